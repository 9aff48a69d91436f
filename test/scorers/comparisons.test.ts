/** What compares without a model, for rows and as the verifier of a graph. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maxFeedback } from '../../src/core/verify/text.js';
import { goldProblem, isJudged, verifierSpec, verifyOutput } from '../../src/scorers/verifier.js';
import type { ComparedSpec, VerifierConfig } from '../../src/scorers/verifier.js';
import { isObject } from '../../src/util/json.js';
import { compare } from '../support/scoring.js';

function verifier(config: VerifierConfig): ComparedSpec {
  const spec = verifierSpec(config, false, 'p');
  if (isJudged(spec)) throw new Error(`${spec.type} is judged.`);
  return spec;
}

const exact = verifier({ mode: 'exact' });
const exactCase = verifier({ mode: 'exact', case_sensitive: true });
const contains = verifier({ mode: 'contains' });
const containsCase = verifier({ mode: 'contains', case_sensitive: true });
const numeric = verifier({ mode: 'numeric' });
const json = verifier({ mode: 'json' });
const feedbackOf = (spec: ComparedSpec, gold: unknown, output: unknown) => verifyOutput(spec, gold, output).feedback;

const ada = { name: 'Ada', year: 1815, tags: ['x', 'y'] };
const weights = { name: 3, year: 1, nothing: 9 };

describe('the reward', () => {
  test.each<[VerifierConfig, unknown, unknown, number]>([
    [{ mode: 'exact' }, 'Paris', { answer: 'paris' }, 1],
    [{ mode: 'exact' }, 'Paris', ' paris ', 1],
    [{ mode: 'exact', case_sensitive: true }, 'Paris', 'paris', 0],
    [{ mode: 'exact', case_sensitive: true }, 'Paris', ' Paris\n', 1],
    [{ mode: 'exact' }, { a: 1, b: 2 }, { b: 2, a: 1 }, 1],
    [{ mode: 'exact' }, { a: 1 }, { a: 1, b: 2 }, 0],
    [{ mode: 'exact' }, 7, { answer: '7' }, 1],
    [{ mode: 'exact' }, 12, '12', 1],
    [{ mode: 'exact' }, '1234567890123456789', '1234567890123456788', 0],
    [{ mode: 'contains' }, 'Paris', 'It is  PARIS.', 1],
    [{ mode: 'contains' }, 'New  York', { answer: 'new\nyork!' }, 1],
    [{ mode: 'contains' }, { answer: 'Paris' }, { answer: 'Paris it is', why: 'x' }, 1],
    [{ mode: 'contains' }, 5, 'there are 5', 1],
    [{ mode: 'contains' }, 5, 'there are 15', 0],
    [{ mode: 'contains', case_sensitive: true }, 'Paris', 'paris', 0],
    [{ mode: 'contains' }, 'Paris', undefined, 0],
    [{ mode: 'contains' }, 'null', null, 0],
    [{ mode: 'numeric' }, 42, 'First 7, so the answer is 42.', 1],
    [{ mode: 'numeric' }, '42', 'so 41 + 1 = 42', 1],
    [{ mode: 'numeric' }, '#### 1,234', { answer: 1234 }, 1],
    [{ mode: 'numeric' }, { answer: '45%' }, '0.45', 1],
    [{ mode: 'numeric' }, 42, { answer: 42, steps: 3 }, 1],
    [{ mode: 'numeric' }, 42, 42.00001, 1],
    [{ mode: 'numeric' }, 42, 42.0001, 0],
    [{ mode: 'numeric' }, 1e9, 1e9 + 1, 1],
    [{ mode: 'numeric', relative: false }, 1e9, 1e9 + 1, 0],
    [{ mode: 'numeric', tolerance: 1, relative: false }, 42, '43', 1],
    [{ mode: 'numeric' }, 42, { a: 42, b: 42 }, 0],
    [{ mode: 'json' }, ada, { ...ada, name: ' ada', more: 1 }, 1],
    [{ mode: 'json' }, ada, { ...ada, year: 1816 }, 2 / 3],
    [{ mode: 'json' }, ada, JSON.stringify(ada), 1],
    [{ mode: 'json' }, ada, 'Ada', 0],
    [{ mode: 'json' }, ada, { name: 'Ada', year: '1815', tags: ['y', 'x'] }, 2 / 3],
    [{ mode: 'json', case_sensitive: true }, ada, { ...ada, name: 'ada' }, 2 / 3],
    [{ mode: 'json', fields: weights }, ada, '{"name": "Ada"}', 0.75],
    [{ mode: 'json', fields: weights }, ada, { name: 'Ada', year: 1815 }, 1],
    [{ mode: 'json' }, JSON.parse('{"__proto__": 1, "constructor": 2}'), {}, 0],
    [{ mode: 'json' }, { id: '1234567890123456789' }, '{"id": 1234567890123456789}', 1],
    [{ mode: 'json' }, { id: '1234567890123456789' }, '{"id": 1234567890123456788}', 0],
  ])('%j: expected %j, given %j: %d', ({ mode: type, ...options }, expected, output, reward) => {
    const verified = verifyOutput(verifier({ mode: type, ...options }), expected, output);
    expect(verified.reward).toBeCloseTo(reward, 12);
    // A mode is the scorer of its name.
    if (typeof output === 'string') expect(compare({ type, ...options }, expected, output)).toEqual(verified);
  });
});

describe('the feedback states the difference', () => {
  test('exact', () => {
    expect(feedbackOf(exact, 'Paris', { answer: 'paris' })).toBe('Right: it is what was expected: Paris.');
    expect(feedbackOf(exact, 'Paris', 'London')).toBe('Wrong.\nExpected: Paris\nGiven: London');
    expect(feedbackOf(exact, 'Paris', 'It is Paris, of course.')).toMatch(/more than that/);
    expect(feedbackOf(exactCase, 'Paris', 'PARIS')).toMatch(/upper and lower case/);
    expect(feedbackOf(exact, 'Paris', undefined)).toMatch(/There is no output.*Given: \(nothing\)/s);
    expect(feedbackOf(exact, 'Paris', '')).toMatch(/There is no output/);
    expect(feedbackOf(exact, '', 'x')).toMatch(/^Wrong\.\n/);
  });

  test('contains', () => {
    expect(feedbackOf(contains, 'cat', 'concatenate')).toBe(
      'Wrong. What was expected does not stand in the output as a whole word or text.\nExpected: cat\nGiven: concatenate',
    );
    expect(feedbackOf(containsCase, 'Paris', 'in paris')).toMatch(/other upper and lower case/);
    expect(feedbackOf(contains, 'Paris', 'paris')).toBe('Right: it contains what was expected: Paris.');
  });

  test('numeric', () => {
    expect(feedbackOf(numeric, 42, 'about 41')).toBe(
      'Wrong. The last number of the output is 41.\nExpected: the number 42 (within 0.000001 of its size)\nGiven: about 41',
    );
    expect(feedbackOf(numeric, 42, '42, not 41')).toMatch(/is 41; the expected one stands before it/);
    expect(feedbackOf(numeric, 42, 'forty-two')).toMatch(/There is no number/);
    expect(feedbackOf(numeric, 42, undefined)).toMatch(/no number.*Given: \(nothing\)/s);
    expect(feedbackOf(numeric, 0, '1')).toMatch(/within 0.000001\)/);
    expect(feedbackOf(numeric, '45 %', '0.45')).toBe('Right: 0.45 is the number 45 % (within 0.000001 of its size).');
  });

  test('json: every wrong field with the expected and the given value', () => {
    expect(verifyOutput(json, ada, { name: 'Bob', tags: ['x', 'y'] })).toEqual({
      reward: expect.closeTo(1 / 3) as unknown,
      feedback:
        'Wrong fields: 2 of 3.\n- name: expected Ada, got Bob\n- year: expected 1815, got no such field\nRight fields: tags.',
      criteria: [
        { name: 'name', weight: 1, score: 0, reason: 'expected Ada, got Bob' },
        { name: 'year', weight: 1, score: 0, reason: 'expected 1815, got no such field' },
        { name: 'tags', weight: 1, score: 1, reason: 'equal' },
      ],
    });
    expect(feedbackOf(json, ada, 'Ada')).toMatch(/^The output is no JSON object: Ada\nWrong fields: 3 of 3/);
    expect(feedbackOf(json, ada, undefined)).toMatch(/^The output is no JSON object: \(nothing\)/);
    expect(feedbackOf(json, ada, null)).toMatch(/^The output is no JSON object: null/);
    expect(feedbackOf(json, { constructor: 1 }, {})).toMatch(/got no such field/);
    expect(feedbackOf(json, ada, ada)).toBe('Right: all fields are as expected: name, year, tags.');
  });
});

describe('every mode', () => {
  const verifiers = [exact, exactCase, contains, containsCase, numeric, json];
  const any = fc.oneof(fc.jsonValue(), fc.string(), fc.constant(undefined), fc.record({ answer: fc.jsonValue() }));

  test('returns a reward from 0 to 1 and bounded feedback for any output', () => {
    fc.assert(
      fc.property(fc.constantFrom(...verifiers), any, any, (spec, gold, output) => {
        fc.pre(goldProblem(spec, gold) === null);
        const { reward, feedback } = verifyOutput(spec, gold, output);
        expect(reward).toBeGreaterThanOrEqual(0);
        expect(reward).toBeLessThanOrEqual(1);
        expect(feedback).not.toBe('');
        expect(feedback.length).toBeLessThanOrEqual(maxFeedback);
      }),
    );
    for (const spec of verifiers) {
      const gold = spec.type === 'json' ? { a: 'g'.repeat(9_000), b: 1 } : `5 ${'g'.repeat(9_000)}`;
      expect(feedbackOf(spec, gold, 'o'.repeat(9_000)).length).toBeLessThanOrEqual(maxFeedback);
    }
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`field${at}`, at]));
    expect(feedbackOf(json, wide, {})).toHaveLength(maxFeedback);
    expect(feedbackOf(json, wide, wide)).toHaveLength(maxFeedback);
  });

  test('rewards the gold output itself with 1', () => {
    fc.assert(
      fc.property(fc.constantFrom(...verifiers), any, (spec, gold) => {
        fc.pre(gold !== undefined && goldProblem(spec, gold) === null);
        expect(verifyOutput(spec, gold, gold).reward).toBe(1);
        const wrapped = verifyOutput(spec, gold, { answer: gold, why: 'so' });
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
    expect(goldProblem(verifier({ mode: 'json', fields: { b: 1 } }), { a: 1 })).not.toBeNull();
    expect(goldProblem(json, { a: 1 })).toBeNull();
    expect(() => verifyOutput(numeric, 'none', '1')).toThrow(RangeError);
  });
});
