import { expect, test } from '@jest/globals';
import { combine, partNames } from '../../src/scorers/weighted.js';
import { maxFeedback } from '../../src/core/verify/text.js';

test('the reward is the weighted mean; the worst part stands first', () => {
  const parts = [
    { name: 'exact', weight: 1, verification: { reward: 1, feedback: 'right' } },
    { name: 'http', weight: 3, verification: { reward: 0.2, feedback: 'low', details: { a: 1 } } },
  ];
  const { reward, feedback, criteria, details } = combine(parts);
  expect(reward).toBeCloseTo(0.4, 12);
  expect(feedback.indexOf('http')).toBeLessThan(feedback.indexOf('exact'));
  expect(criteria).toEqual([
    { name: 'exact', weight: 1, score: 1, reason: 'right' },
    { name: 'http', weight: 3, score: 0.2, reason: 'low' },
  ]);
  expect(details).toEqual({ http: { a: 1 } });
});

test('each part has its share of the feedback', () => {
  const long = { reward: 0, feedback: 'x'.repeat(maxFeedback) };
  const parts = ['a', 'b', 'c'].map((name) => ({ name, weight: 1, verification: long }));
  const { feedback } = combine(parts);
  expect(feedback.length).toBeLessThanOrEqual(maxFeedback);
  for (const name of ['a', 'b', 'c']) expect(feedback).toContain(`## ${name}:`);
});

test('parts of the same type have numbers', () => {
  expect(partNames(['rubric', 'exact', 'rubric', 'rubric'])).toEqual(['rubric', 'exact', 'rubric_2', 'rubric_3']);
});
