import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ScoredVerifier } from '../../../src/contracts/scoring/verifier.js';
import { unwrapAnswer, comparableParts } from '../../../src/core/verify/answer.js';
import { goldProblem, isJudged, score } from '../../../src/core/verify/score.js';
import { maxFeedback } from '../../../src/core/verify/text.js';
import { weightedMean } from '../../../src/core/verify/verification.js';
import { isObject } from '../../../src/util/json.js';

const exact: ScoredVerifier = { mode: 'exact', caseSensitive: false };
const exactCase: ScoredVerifier = { mode: 'exact', caseSensitive: true };
const contains: ScoredVerifier = { mode: 'contains', caseSensitive: false };
const containsCase: ScoredVerifier = { mode: 'contains', caseSensitive: true };
const numeric: ScoredVerifier = { mode: 'numeric', tolerance: 1e-6, relative: true };
const json: ScoredVerifier = { mode: 'json', caseSensitive: false, fields: null };
const rewardOf = (verifier: ScoredVerifier, gold: unknown, output: unknown) => score(verifier, gold, output).reward;
const feedbackOf = (verifier: ScoredVerifier, gold: unknown, output: unknown) => score(verifier, gold, output).feedback;

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

describe('exact', () => {
  test('rewards equal parts with 1, others with 0', () => {
    expect(score(exact, 'Paris', { answer: 'paris' })).toEqual({
      reward: 1,
      feedback: 'Right: it is what was expected: Paris.',
    });
    expect(rewardOf(exactCase, 'Paris', 'paris')).toBe(0);
    expect(rewardOf(exactCase, 'Paris', ' Paris\n')).toBe(1);
    expect(rewardOf(exact, { a: 1, b: 2 }, { b: 2, a: 1 })).toBe(1);
    expect(rewardOf(exact, { a: 1 }, { a: 1, b: 2 })).toBe(0);
    expect(rewardOf(exact, 7, { answer: '7' })).toBe(1);
  });

  test('feedback states the difference', () => {
    expect(score(exact, 'Paris', 'London')).toEqual({
      reward: 0,
      feedback: 'Wrong.\nExpected: Paris\nGiven: London',
    });
    expect(feedbackOf(exact, 'Paris', 'It is Paris, of course.')).toMatch(/more than that/);
    expect(feedbackOf(exactCase, 'Paris', 'PARIS')).toMatch(/upper and lower case/);
    expect(feedbackOf(exact, 'Paris', undefined)).toMatch(/There is no output.*Given: \(nothing\)/s);
    expect(feedbackOf(exact, 'Paris', '')).toMatch(/There is no output/);
    expect(feedbackOf(exact, '', 'x')).toMatch(/^Wrong\.\n/);
  });
});

describe('contains', () => {
  test('rewards an output that contains the gold text as whole words', () => {
    expect(rewardOf(contains, 'Paris', 'It is  PARIS.')).toBe(1);
    expect(rewardOf(contains, 'New  York', { answer: 'new\nyork!' })).toBe(1);
    expect(rewardOf(contains, { answer: 'Paris' }, { answer: 'Paris it is', why: 'x' })).toBe(1);
    expect(rewardOf(contains, 5, 'there are 5')).toBe(1);
    expect(rewardOf(contains, 5, 'there are 15')).toBe(0);
    expect(rewardOf(containsCase, 'Paris', 'paris')).toBe(0);
    expect(rewardOf(contains, 'Paris', undefined)).toBe(0);
    expect(rewardOf(contains, 'null', null)).toBe(0);
  });

  test('feedback states the difference', () => {
    expect(feedbackOf(contains, 'cat', 'concatenate')).toBe(
      'Wrong. What was expected does not stand in the output as a whole word or text.\nExpected: cat\nGiven: concatenate',
    );
    expect(feedbackOf(containsCase, 'Paris', 'in paris')).toMatch(/other upper and lower case/);
    expect(feedbackOf(contains, 'Paris', 'paris')).toBe('Right: it contains what was expected: Paris.');
  });
});

describe('numeric', () => {
  test('compares the last number of the output', () => {
    expect(rewardOf(numeric, 42, 'First 7, so the answer is 42.')).toBe(1);
    expect(rewardOf(numeric, '#### 1,234', { answer: 1234 })).toBe(1);
    expect(rewardOf(numeric, { answer: '45%' }, '0.45')).toBe(1);
    expect(rewardOf(numeric, 42, { answer: 42, steps: 3 })).toBe(1);
    expect(rewardOf(numeric, 42, 42.00001)).toBe(1);
    expect(rewardOf(numeric, 42, 42.0001)).toBe(0);
    expect(rewardOf({ ...numeric, relative: false }, 1e9, 1e9 + 1)).toBe(0);
    expect(rewardOf(numeric, 1e9, 1e9 + 1)).toBe(1);
    expect(rewardOf(numeric, 42, { a: 42, b: 42 })).toBe(0);
  });

  test('feedback states the difference', () => {
    expect(feedbackOf(numeric, 42, 'about 41')).toBe(
      'Wrong. The last number of the output is 41.\nExpected: the number 42 (within 0.000001 of its size)\nGiven: about 41',
    );
    expect(feedbackOf(numeric, 42, '42, not 41')).toMatch(/is 41; the expected one stands before it/);
    expect(feedbackOf(numeric, 42, 'forty-two')).toMatch(/There is no number/);
    expect(feedbackOf(numeric, 42, undefined)).toMatch(/no number.*Given: \(nothing\)/s);
    expect(feedbackOf(numeric, 0, '1')).toMatch(/within 0.000001\)/);
    expect(feedbackOf(numeric, '45 %', '0.45')).toBe('Right: 0.45 is the number 45 % (within 0.000001 of its size).');
  });
});

describe('json', () => {
  const gold = { name: 'Ada', year: 1815, tags: ['x', 'y'] };

  test('rewards the weighted share of equal fields', () => {
    expect(rewardOf(json, gold, { ...gold, name: ' ada', more: 1 })).toBe(1);
    expect(rewardOf(json, gold, { ...gold, year: 1816 })).toBeCloseTo(2 / 3);
    expect(rewardOf(json, gold, JSON.stringify(gold))).toBe(1);
    expect(rewardOf(json, gold, 'Ada')).toBe(0);
    expect(rewardOf(json, gold, { name: 'Ada', year: '1815', tags: ['y', 'x'] })).toBeCloseTo(2 / 3);
    expect(rewardOf({ ...json, caseSensitive: true }, gold, { ...gold, name: 'ada' })).toBeCloseTo(2 / 3);
    const weighted: ScoredVerifier = { ...json, fields: { name: 3, year: 1, nothing: 9 } };
    expect(rewardOf(weighted, gold, { name: 'Ada' })).toBe(0.75);
    expect(rewardOf(weighted, gold, { name: 'Ada', year: 1815 })).toBe(1);
    expect(rewardOf(json, JSON.parse('{"__proto__": 1, "constructor": 2}'), {})).toBe(0);
  });

  test('lists every wrong field with the expected and the given value', () => {
    expect(score(json, gold, { name: 'Bob', tags: ['x', 'y'] })).toEqual({
      reward: expect.closeTo(1 / 3) as unknown,
      feedback:
        'Wrong fields: 2 of 3.\n- name: expected Ada, got Bob\n- year: expected 1815, got no such field\nRight fields: tags.',
      criteria: [
        { name: 'name', weight: 1, score: 0, reason: 'expected Ada, got Bob' },
        { name: 'year', weight: 1, score: 0, reason: 'expected 1815, got no such field' },
        { name: 'tags', weight: 1, score: 1, reason: 'equal' },
      ],
    });
    expect(feedbackOf(json, gold, 'Ada')).toMatch(/^The output is no JSON object: Ada\nWrong fields: 3 of 3/);
    expect(feedbackOf(json, gold, undefined)).toMatch(/^The output is no JSON object: \(nothing\)/);
    expect(feedbackOf(json, gold, null)).toMatch(/^The output is no JSON object: null/);
    expect(feedbackOf(json, { constructor: 1 }, {})).toMatch(/got no such field/);
    expect(feedbackOf(json, gold, gold)).toBe('Right: all fields are as expected: name, year, tags.');
  });
});

describe('every mode', () => {
  const verifiers = [exact, exactCase, contains, containsCase, numeric, json];
  const any = fc.oneof(fc.jsonValue(), fc.string(), fc.constant(undefined), fc.record({ answer: fc.jsonValue() }));

  test('returns a reward from 0 to 1 and bounded feedback for any output', () => {
    fc.assert(
      fc.property(fc.constantFrom(...verifiers), any, any, (verifier, gold, output) => {
        fc.pre(goldProblem(verifier, gold) === null);
        const { reward, feedback } = score(verifier, gold, output);
        expect(reward).toBeGreaterThanOrEqual(0);
        expect(reward).toBeLessThanOrEqual(1);
        expect(feedback).not.toBe('');
        expect(feedback.length).toBeLessThanOrEqual(maxFeedback);
      }),
    );
    for (const verifier of verifiers) {
      const gold = verifier.mode === 'json' ? { a: 'g'.repeat(9_000), b: 1 } : `5 ${'g'.repeat(9_000)}`;
      expect(feedbackOf(verifier, gold, 'o'.repeat(9_000)).length).toBeLessThanOrEqual(maxFeedback);
    }
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`field${at}`, at]));
    expect(feedbackOf(json, wide, {})).toHaveLength(maxFeedback);
    expect(feedbackOf(json, wide, wide)).toHaveLength(maxFeedback);
  });

  test('rewards the gold output itself with 1', () => {
    fc.assert(
      fc.property(fc.constantFrom(...verifiers), any, (verifier, gold) => {
        fc.pre(gold !== undefined && goldProblem(verifier, gold) === null);
        expect(rewardOf(verifier, gold, gold)).toBe(1);
        const wrapped = score(verifier, gold, { answer: gold, why: 'so' });
        if (!isObject(gold)) expect(wrapped.reward).toBe(1);
      }),
    );
  });

  test('rejects a gold output that cannot be compared with', () => {
    expect(goldProblem(exact, '')).toBeNull();
    for (const gold of [{ answer: ' ' }, null, { answer: null }]) expect(goldProblem(contains, gold)).not.toBeNull();
    expect(goldProblem(contains, 'x')).toBeNull();
    expect(goldProblem(numeric, 'none')).not.toBeNull();
    expect(goldProblem(numeric, { answer: '7' })).toBeNull();
    expect(goldProblem(json, [1])).not.toBeNull();
    expect(goldProblem(json, {})).not.toBeNull();
    expect(goldProblem({ ...json, fields: { b: 1 } }, { a: 1 })).not.toBeNull();
    expect(goldProblem(json, { a: 1 })).toBeNull();
    expect(() => score(numeric, 'none', '1')).toThrow(RangeError);
  });
});

test('isJudged is true for rubric and gold_examples only', () => {
  const judge = { model: 'm', provider: 'p', params: {} };
  expect([exact, contains, numeric, json].some(isJudged)).toBe(false);
  expect(isJudged({ mode: 'rubric', judge }) && isJudged({ mode: 'gold_examples', judge })).toBe(true);
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
