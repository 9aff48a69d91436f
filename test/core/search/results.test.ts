import { expect, test } from '@jest/globals';
import { addResults, measuredOn, noiseOf, type Results } from '../../../src/core/search/results.js';

const of = (...rewards: number[]) => rewards.map((reward, ordinal) => [ordinal, reward] as const);

test('the noise is the pooled variance within equal rollouts', () => {
  // Deviations ±0.5 around 0.5, and ±0.1 and 0 around 0.3; a single rollout has none.
  const results: Results = { 0: { 7: of(0, 1), 8: of(1) }, 3: { 7: of(0.2, 0.3, 0.4) } };
  const { variance, comparisons } = noiseOf(results);
  expect(comparisons).toBe(1 + 2);
  expect(variance).toBeCloseTo((0.25 + 0.25 + 0.01 + 0.01) / 3, 12);
});

test('the noise is 0 without equal rollouts', () => {
  expect(noiseOf({})).toEqual({ variance: 0, comparisons: 0 });
  expect(noiseOf({ 0: { 1: of(0), 2: of(1) }, 1: { 1: of(1) } })).toEqual({ variance: 0, comparisons: 0 });
});

test.each([0.1, 0.3, 0.4, 0.7, 1 / 3])('any number of equal rewards of %p has no noise', (reward) => {
  for (let count = 2; count < 30; count++) {
    const rewards = Array.from({ length: count }, () => reward);
    expect(noiseOf({ 0: { 1: of(...rewards) } })).toEqual({ variance: 0, comparisons: count - 1 });
  }
});

test('addResults appends by candidate and seed, and does not modify its argument', () => {
  const before: Results = { 0: { 5: [[0, 1]] }, 1: { 5: [[1, 0.5]] } };
  const copy = JSON.stringify(before);
  const after = addResults(before, [
    { candidate: 0, seed: 5, ordinal: 2, reward: 0 },
    { candidate: 0, seed: -6, ordinal: 3, reward: 0.25 },
    { candidate: 2, seed: 5, ordinal: 4, reward: 1 },
  ]);
  expect(JSON.stringify(before)).toBe(copy);
  expect(after).toEqual({ 0: { 5: [[0, 1], [2, 0]], '-6': [[3, 0.25]] }, 1: { 5: [[1, 0.5]] }, 2: { 5: [[4, 1]] } }); // prettier-ignore
  expect(measuredOn(after, 0, 5)).toEqual([
    [0, 1],
    [2, 0],
  ]);
  expect(measuredOn(after, 9, 5)).toEqual([]);
});
