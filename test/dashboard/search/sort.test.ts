/** The order of the candidates' table. */
import { expect, test } from '@jest/globals';
import { sorted, sortOf, textOf } from '../../../dashboard/src/pages/search/candidates/sort.js';
import type { Candidate } from '../../../dashboard/src/data/search.js';

const candidates = [0.5, null, 0.9, 0.5].map((reward, n) => ({ lever_version: n, reward }) as Candidate);
const numbers = (text: string) => sorted(candidates, sortOf(text)).map(({ lever_version: number }) => number);

test('unknown rewards come last in both directions; equal ones keep the order of their numbers', () => {
  expect(numbers('-reward')).toEqual([2, 3, 0, 1]);
  expect(numbers('reward')).toEqual([0, 3, 2, 1]);
});

test('an address without a known column shows the latest candidates first', () => {
  for (const text of [null, '', 'constructor', '-toString']) expect(textOf(sortOf(text))).toBe('-number');
  expect(textOf(sortOf('-avg_reward'))).toBe('-avg_reward');
});
