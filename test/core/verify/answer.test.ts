import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { comparableParts, unwrapAnswer } from '../../../src/core/verify/answer.js';
import { weightedMean } from '../../../src/core/verify/verification.js';

describe('compared parts', () => {
  test.each<[unknown, unknown]>([
    [{ anything: 'x' }, 'x'],
    [{ reasoning: 'r', answer: 'x' }, 'x'],
    [{ reasoning: 'r', output: 'x' }, 'x'],
    [{ output: 'o', answer: 'x' }, 'x'],
    [{ answer: { answer: 'x' } }, { answer: 'x' }],
    [
      { a: 1, b: 2 },
      { a: 1, b: 2 },
    ],
    [{}, {}],
    [['x'], ['x']],
    [null, null],
  ])('the answer of %j is %j', (value, answer) => {
    expect(unwrapAnswer(value)).toEqual(answer);
  });

  test('compares objects with objects, and the unwrapped answer otherwise', () => {
    expect(comparableParts('x', { answer: 'x' })).toEqual({ gold: 'x', output: 'x' });
    expect(comparableParts({ answer: 'x' }, 'x')).toEqual({ gold: 'x', output: 'x' });
    expect(comparableParts({ a: 1 }, { a: 2 })).toEqual({ gold: { a: 1 }, output: { a: 2 } });
    expect(comparableParts({ a: 1 }, '{"a": 2, "b": 3}')).toEqual({ gold: { a: 1 }, output: { a: 2, b: 3 } });
    expect(comparableParts({ answer: 'x' }, undefined)).toEqual({ gold: 'x', output: undefined });
    expect(comparableParts('{"a": 1}', '{"a": 1}')).toEqual({ gold: '{"a": 1}', output: '{"a": 1}' });
  });
});

test('a weighted mean is within 0 and 1, and exactly 1 for full scores', () => {
  const score = fc.record({
    score: fc.double({ min: 0, max: 1, noNaN: true }),
    weight: fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(score, { minLength: 1 }), (scores) => {
      expect(weightedMean(scores)).toBeGreaterThanOrEqual(0);
      expect(weightedMean(scores)).toBeLessThanOrEqual(1);
      expect(weightedMean(scores.map(({ weight }) => ({ weight, score: 1 })))).toBe(1);
      expect(weightedMean(scores.map(({ weight }) => ({ weight, score: 0 })))).toBe(0);
    }),
  );
});
