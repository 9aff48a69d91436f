import { describe, expect, test } from '@jest/globals';
import { RewardModel } from '../../../src/core/search/reward-model.js';
import type { Results } from '../../../src/core/search/results.js';

let ordinal = 0;
const of = (...rewards: number[]) => rewards.map((reward) => [ordinal++, reward] as const);

/** A model of the results; a candidate not in `parents` has no parents. */
function modelOf(results: Results, parents: Record<number, number[]> = {}): RewardModel {
  return new RewardModel(results, (candidate) => parents[candidate] ?? []);
}

/** The baseline on six seeds, one with two different rewards: variance 0.02. */
const noisy: Results = { 0: { 1: of(0), 2: of(1), 3: of(0), 4: of(1), 5: of(0.5), 9: of(0.4, 0.6) } };

describe('without noise', () => {
  test('the posterior is the last measured reward', () => {
    const model = modelOf({ 0: { 1: of(0.2), 2: of(0.8, 0.8) } });
    expect(model.posterior(0, 1)).toMatchObject({ mean: 0.2, variance: 0, age: 0 });
    expect(model.posterior(0, 2)).toMatchObject({ mean: 0.8, variance: 0, age: 0 });
    expect(model.posterior(0, 3)).toBeNull();
  });

  test('a child inherits from its nearest measured ancestor; the age counts edits', () => {
    const results: Results = { 0: { 1: [[7, 0.2]], 2: [[8, 0.3]] }, 2: { 1: [[20, 0.6]] }, 9: { 5: [[30, 1]] } };
    const model = modelOf(results, { 1: [0], 2: [1], 3: [2], 4: [3] });
    expect(model.posterior(4, 1)).toEqual({ mean: 0.6, variance: 0, age: 2, ordinal: 20, latest: 0.6 });
    expect(model.posterior(4, 2)).toEqual({ mean: 0.3, variance: 0, age: 4, ordinal: 8, latest: 0.3 });
    // Only an unrelated candidate ran on seed 5.
    expect(model.posterior(4, 5)).toBeNull();
    // The prior of candidate 2 excludes its own rollout.
    expect(model.prior(2, 1)).toEqual({ mean: 0.2, variance: 0, age: 2, ordinal: 7, latest: 0.2 });
  });

  test.each<[string, Results, number, number]>([
    ['the parent measured last', { 0: { 1: [[0, 0.9]] }, 1: { 1: [[1, 0.2]] } }, 0.2, 1],
    ['the better of two measured parents', { 1: { 1: [[1, 0.2]] }, 2: { 1: [[2, 0.7]] } }, 0.7, 2],
    ['the common ancestor', { 0: { 1: [[5, 0.4]] } }, 0.4, 5],
    ['the nearer of two ancestors', { 0: { 1: [[0, 1]] }, 4: { 1: [[9, 0.1]] } }, 0.1, 9],
  ])('a merge inherits from %s', (_, results, mean, from) => {
    // 4 descends from 2; 3 merges 1 and 4; 5 descends from 3.
    const model = modelOf(results, { 1: [0], 2: [0], 4: [2], 3: [1, 4], 5: [3] });
    const merged = modelOf(results, { 1: [0], 2: [0], 3: [1, 2], 5: [3] });
    const wanted = results[4] ? model : merged;
    expect(wanted.posterior(3, 1)).toMatchObject({ mean, ordinal: from });
    expect(wanted.posterior(5, 1)!.age).toBe(wanted.posterior(3, 1)!.age + 1);
  });

  test('does not depend on the order of the queries', () => {
    const results: Results = { 0: { 1: [[0, 0.1]] }, 3: { 1: [[3, 0.5]] }, 6: { 1: [[6, 0.4]] } };
    const parents = { 1: [0], 2: [0], 3: [1], 4: [1, 2], 5: [3, 4], 6: [5], 7: [5], 8: [6, 7] };
    const forward = modelOf(results, parents);
    const backward = modelOf(results, parents);
    const all = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    const after = [...all].reverse().map((candidate) => backward.posterior(candidate, 1));
    expect(all.map((candidate) => forward.posterior(candidate, 1))).toEqual(after.reverse());
    expect(forward.posterior(8, 1)).toEqual({ mean: 0.4, variance: 0, age: 1, ordinal: 6, latest: 0.4 });
    expect(forward.posterior(7, 1)).toEqual({ mean: 0.5, variance: 0, age: 2, ordinal: 3, latest: 0.5 });
  });
});

describe('comparable rewards', () => {
  test('cover each seed with a result, in order; the first candidate there stands in', () => {
    const results: Results = {
      0: { 1: [[0, 1]], 2: [[1, 0]] },
      1: { 2: [[2, 1]], 3: [[3, 0]], 4: [[4, 1]] },
      2: { 3: [[5, 1]] },
    };
    const model = modelOf(results, { 1: [0], 2: [0] });
    expect(model.comparable([0, 1, 2], [4, 3, 2, 1, 9])).toEqual(
      new Map([
        [0, [1, 0, 0, 1]],
        [1, [1, 0, 1, 1]],
        [2, [1, 1, 0, 1]],
      ]),
    );
  });

  test('do not change in relation when a candidate runs seeds that nothing else ran', () => {
    const parents = { 1: [0] };
    const results: Results = { 0: { 1: [[0, 1]], 2: [[1, 0]] }, 1: { 2: [[2, 1]] } };
    const explored: Results = { ...results, 1: { ...results[1], 3: [[3, 0]], 4: [[4, 0]] } };
    for (const given of [results, explored]) {
      const [base, child] = [...modelOf(given, parents).comparable([0, 1], [1, 2, 3, 4]).values()];
      expect(child!.reduce((sum, own, index) => sum + own - base![index]!, 0)).toBe(1);
    }
  });
});

describe('with noise', () => {
  test('a measurement counts more with more rollouts', () => {
    const single = modelOf({ ...noisy, 1: { 1: of(1) } }, { 1: [0] });
    const triple = modelOf({ ...noisy, 1: { 1: of(1, 1, 1) } }, { 1: [0] });
    const expected = single.prior(1, 1)!.mean;
    expect(expected).toBeLessThan(0.2);
    expect(single.posterior(1, 1)!.mean).toBeGreaterThan(expected);
    expect(single.posterior(1, 1)!.mean).toBeLessThan(1);
    expect(triple.posterior(1, 1)!.mean).toBeGreaterThan(single.posterior(1, 1)!.mean);
    expect(triple.posterior(1, 1)!.variance).toBeLessThan(single.posterior(1, 1)!.variance);
  });

  test('uses the weights of a Kalman filter', () => {
    const model = modelOf({ ...noisy, 1: { 1: of(1) } }, { 1: [0] });
    const { variance: noise } = model.noise;
    expect(noise).toBeCloseTo(0.02, 12);
    // The prior: mean and variance over the baseline seeds (0, 1, 0, 1, 0.5, 0.5), less the noise.
    const prior = { mean: 0.5, variance: 0.2 - 0.02 };
    const base = model.posterior(0, 1)!;
    expect(base.mean).toBeCloseTo(prior.mean - (prior.variance / (prior.variance + noise)) * prior.mean, 12);
    expect(base.variance).toBeCloseTo((prior.variance * noise) / (prior.variance + noise), 12);
    const before = base.variance + 0.1;
    const child = model.posterior(1, 1)!;
    expect(child.mean).toBeCloseTo(base.mean + (before / (before + noise)) * (1 - base.mean), 12);
    expect(child.variance).toBeCloseTo((before * noise) / (before + noise), 12);
  });

  test('divides the noise by the number of rollouts', () => {
    const model = modelOf({ ...noisy, 1: { 1: of(1, 1, 1) } }, { 1: [0] });
    const { mean, variance } = model.prior(1, 1)!;
    const noise = model.noise.variance / 3;
    expect(model.posterior(1, 1)!.mean).toBeCloseTo(mean + (variance / (variance + noise)) * (1 - mean), 12);
  });

  test('each edit adds variance and keeps the mean', () => {
    const model = modelOf(noisy, { 1: [0], 2: [1], 3: [2] });
    const line = [0, 1, 2, 3].map((candidate) => model.posterior(candidate, 2)!);
    expect(line.map(({ mean }) => mean)).toEqual(line.map(() => line[0]!.mean));
    for (let at = 1; at < line.length; at++) expect(line[at]!.variance).toBeCloseTo(line[at - 1]!.variance + 0.1, 12);
    expect(line.map(({ age }) => age)).toEqual([0, 1, 2, 3]);
  });

  test('the posterior has the ordinal of the last rollout', () => {
    const results: Results = { 0: { 1: [[3, 0], [8, 1]] } }; // prettier-ignore
    expect(modelOf(results).posterior(0, 1)!.ordinal).toBe(8);
  });
});
