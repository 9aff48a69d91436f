import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { conditionProblem, evaluateCondition } from '../../../src/core/graphs/condition.js';
import type { Condition } from '../../../src/core/graphs/graph.js';
import { conditionCases, verdictCases } from './interpreter-cases.js';
import type { Json } from '../../../src/core/graphs/values.js';
import { majorityValue, numberedCandidates, parseVote } from '../../../src/core/graphs/run/vote.js';

describe('majorityValue', () => {
  test.each<[Json[], Json | undefined]>([
    [['b', 'a', 'a'], 'a'],
    [['Paris ', 'London', 'paris', ' LONDON'], 'Paris '],
    [['x', 'b', ' B'], 'b'],
    [[{ answer: 'a b' }, { answer: 'c' }, { answer: 'A  B' }], { answer: 'a b' }],
    [[1, '1', 1], 1],
    [['a', 'b', 'b', 'a'], 'a'],
    [[], undefined],
  ])('%j gives %j', (values, winner) => {
    expect(majorityValue(values)).toEqual(winner);
  });

  test('returns the first value of a largest group', () => {
    const values = fc.array(fc.constantFrom<string>('a', 'A ', 'b', 'B', 'c'), { minLength: 1 });
    fc.assert(
      fc.property(values, (all) => {
        const votes = (value: string) => all.filter((text) => text.trim().toLowerCase() === value.trim().toLowerCase());
        const winner = majorityValue(all) as string;
        expect(votes(winner)[0]).toBe(winner);
        for (const [at, other] of all.entries()) {
          const [mine, theirs] = [votes(winner).length, votes(other).length];
          expect(mine).toBeGreaterThanOrEqual(theirs);
          if (mine === theirs) expect(all.indexOf(winner)).toBeLessThanOrEqual(at);
        }
      }),
    );
  });
});

describe('a judge vote', () => {
  test('quotes candidates so that none can pose as another', () => {
    const breaks = fc.constantFrom('\n', '\r', '\u2028', '\u0085', '\v', 'Candidate 2:', 'x', '\r\n');
    const hostile = fc.array(breaks, { maxLength: 20 }).map((parts) => parts.join(''));
    const framing = (shown: string) =>
      shown.split(/[\n\v\f\r\u0085\u2028\u2029]/).filter((line) => line !== '' && !line.startsWith('> '));
    fc.assert(
      fc.property(hostile, hostile, (first, second) => {
        expect(framing(numberedCandidates([first, { answer: second }]))).toEqual(['Candidate 1:', 'Candidate 2:']);
      }),
    );
    expect(numberedCandidates([{ answer: 'a\nb' }, { a: 'x', b: 1 }, 3])).toBe(
      'Candidate 1:\n> a\n> b\n\nCandidate 2:\n> {"a":"x","b":1}\n\nCandidate 3:\n> 3',
    );
  });

  test.each(verdictCases)('names a candidate in %j: %j', (answer, index) => {
    const problem: unknown = expect.any(String);
    expect(parseVote(answer, 3)).toEqual(index === null ? { ok: false, problem } : { ok: true, index });
  });
});

describe('evaluateCondition', () => {
  test.each(conditionCases)('%s %j of %j: %j', (is, value, given, holds) => {
    const expected = typeof holds === 'string' ? { ok: false, reason: holds } : { ok: true, holds };
    expect(evaluateCondition({ is, ...(value !== undefined && { value }) }, given)).toEqual(expected);
  });

  test.each<[Pick<Condition, 'is' | 'value'>, string | null]>([
    [{ is: 'empty' }, null],
    [{ is: 'empty', value: 'x' }, 'must be absent: empty takes no value'],
    [{ is: 'less', value: '3' }, 'less needs a number as value'],
    [{ is: 'greater' }, 'greater needs a number as value'],
    [{ is: 'greater', value: 0 }, null],
    [{ is: 'equals' }, 'equals needs a text, a number, true, false or null as value'],
    [{ is: 'contains', value: [] }, 'contains needs a text, a number, true, false or null as value'],
    [{ is: 'equals', value: null }, null],
  ])('%j: %j', (condition, problem) => {
    expect(conditionProblem(condition)).toBe(problem);
  });
});
