import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { conditionProblem, evaluateCondition } from '../../../src/core/graphs/condition.js';
import type { Condition } from '../../../src/core/graphs/graph.js';
import type { Json } from '../../../src/core/graphs/values.js';
import { majorityValue, numberedCandidates, parseVerdict } from '../../../src/core/graphs/run/vote.js';

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
        const votes = (value: string) => all.filter((one) => one.trim().toLowerCase() === value.trim().toLowerCase());
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
      fc.property(hostile, hostile, (one, two) => {
        expect(framing(numberedCandidates([one, { answer: two }]))).toEqual(['Candidate 1:', 'Candidate 2:']);
      }),
    );
    expect(numberedCandidates([{ answer: 'a\nb' }, { a: 'x', b: 1 }, 3])).toBe(
      'Candidate 1:\n> a\n> b\n\nCandidate 2:\n> {"a":"x","b":1}\n\nCandidate 3:\n> 3',
    );
  });

  test.each<[string, number]>([
    ['2', 1],
    ['The best is candidate 1.', 0],
    ['**3**', 2],
    ['2, since 2 is right', 1],
    ['2\n\nIt is the clearest.', 1],
    ['1 is wrong, 2 is wrong.\n\nSo: 3\n\n', 2],
    ['Candidate 2 and 3 differ.\r\n[1]', 0],
  ])('parses the verdict %j', (answer, index) => {
    expect(parseVerdict(answer, 3)).toEqual({ ok: true, index });
  });

  test.each([
    ['', 'names no candidate; expected a number from 1 to 3'],
    ['the second', 'names no candidate; expected a number from 1 to 3'],
    ['1 or 2', 'does not name exactly one candidate; expected one number from 1 to 3 in the last line'],
    ['1 beats 2.\nThat is clear.', 'does not name exactly one candidate'],
    ['4', 'names 4, which is not one of 1 to 3'],
    ['0', 'names 0, which is not one of 1 to 3'],
  ])('rejects the verdict %j', (answer, problem) => {
    expect(parseVerdict(answer, 3)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });
});

describe('evaluateCondition', () => {
  test.each<[Condition['is'], Json | undefined, Json, boolean]>([
    ['equals', 'yes', ' YES ', true],
    ['equals', 'yes', 'yes.', false],
    ['equals', 1, 1, true],
    ['equals', 1, '1', false],
    ['equals', null, null, true],
    ['equals', true, true, true],
    ['contains', 'b  C', 'A B c d', true],
    ['contains', 'x', 'abc', false],
    ['contains', 4, 'is 42', true],
    ['contains', 'a', ['b', ' A'], true],
    ['contains', 'a', ['ab'], false],
    ['empty', undefined, ' \n', true],
    ['empty', undefined, 'x', false],
    ['empty', undefined, [], true],
    ['empty', undefined, [null], false],
    ['empty', undefined, {}, true],
    ['empty', undefined, null, true],
    ['empty', undefined, 0, false],
    ['empty', undefined, false, false],
    ['less', 3, 2, true],
    ['less', 3, 3, false],
    ['greater', 3, ' 3.5 ', true],
    ['greater', 3, 3, false],
    ['greater', -5, '-4', true],
  ])('%s %j of %j: %j', (is, value, given, holds) => {
    expect(evaluateCondition(value === undefined ? { is } : { is, value }, given)).toEqual({ ok: true, holds });
  });

  test.each<[Condition['is'], Json, Json, string]>([
    ['less', 3, 'few', 'less expects a number, but got the text "few"'],
    ['greater', 3, '0x10', 'greater expects a number, but got the text "0x10"'],
    ['greater', 3, '', 'greater expects a number, but got an empty text'],
    ['contains', 'a', { a: 1 }, 'contains expects a text or a list, but got an object with a'],
  ])('%s %j fails on %j', (is, value, given, reason) => {
    expect(evaluateCondition({ is, value }, given)).toEqual({ ok: false, reason });
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
