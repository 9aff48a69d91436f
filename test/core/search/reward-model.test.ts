import { describe, expect, test } from '@jest/globals';
import { RewardModel } from '../../../src/core/search/reward-model.js';
import type { Results } from '../../../src/core/search/results.js';

let ordinal = 0;
const of = (...rewards: number[]) => rewards.map((reward) => [ordinal++, reward] as const);

/** Lineages by candidate; whoever is not named has no parents. */
function beliefs(results: Results, parents: Record<number, number[]> = {}): RewardModel {
  return new RewardModel(results, (candidate) => parents[candidate] ?? []);
}

/** The baseline on six seeds, one of them twice with rewards that differ: variance 0.02. */
const noisy: Results = { 0: { 1: of(0), 2: of(1), 3: of(0), 4: of(1), 5: of(0.5), 9: of(0.4, 0.6) } };

describe('without noise', () => {
  test('what was measured last is what is believed', () => {
    const known = beliefs({ 0: { 1: of(0.2), 2: of(0.8, 0.8) } });
    expect(known.posterior(0, 1)).toMatchObject({ mean: 0.2, variance: 0, age: 0 });
    expect(known.posterior(0, 2)).toMatchObject({ mean: 0.8, variance: 0, age: 0 });
    expect(known.posterior(0, 3)).toBeNull();
  });

  test('a child has what its nearest measured ancestor has, its edits ago', () => {
    const results: Results = { 0: { 1: [[7, 0.2]], 2: [[8, 0.3]] }, 2: { 1: [[20, 0.6]] }, 9: { 5: [[30, 1]] } };
    const known = beliefs(results, { 1: [0], 2: [1], 3: [2], 4: [3] });
    expect(known.posterior(4, 1)).toEqual({ mean: 0.6, variance: 0, age: 2, ordinal: 20 });
    expect(known.posterior(4, 2)).toEqual({ mean: 0.3, variance: 0, age: 4, ordinal: 8 });
    // Another line ran there, and nobody of this one.
    expect(known.posterior(4, 5)).toBeNull();
    // What is expected of the second is not what it measured.
    expect(known.prior(2, 1)).toEqual({ mean: 0.2, variance: 0, age: 2, ordinal: 7 });
  });

  test.each<[string, Results, number, number]>([
    ['the parent measured last', { 0: { 1: [[0, 0.9]] }, 1: { 1: [[1, 0.2]] } }, 0.2, 1],
    ['of two measured, the better', { 1: { 1: [[1, 0.2]] }, 2: { 1: [[2, 0.7]] } }, 0.7, 2],
    ['what both have from their base', { 0: { 1: [[5, 0.4]] } }, 0.4, 5],
    ['a further ancestor, the nearer', { 0: { 1: [[0, 1]] }, 4: { 1: [[9, 0.1]] } }, 0.1, 9],
  ])('a merge has that of %s', (_, results, mean, from) => {
    // 4 comes from 2; 3 combines 1 and 4; 5 comes of it.
    const known = beliefs(results, { 1: [0], 2: [0], 4: [2], 3: [1, 4], 5: [3] });
    const merged = beliefs(results, { 1: [0], 2: [0], 3: [1, 2], 5: [3] });
    const wanted = results[4] ? known : merged;
    expect(wanted.posterior(3, 1)).toMatchObject({ mean, ordinal: from });
    expect(wanted.posterior(5, 1)!.age).toBe(wanted.posterior(3, 1)!.age + 1);
  });

  test('the order in which candidates are asked for does not matter', () => {
    const results: Results = { 0: { 1: [[0, 0.1]] }, 3: { 1: [[3, 0.5]] }, 6: { 1: [[6, 0.4]] } };
    const parents = { 1: [0], 2: [0], 3: [1], 4: [1, 2], 5: [3, 4], 6: [5], 7: [5], 8: [6, 7] };
    const forward = beliefs(results, parents);
    const back = beliefs(results, parents);
    const all = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    const after = [...all].reverse().map((candidate) => back.posterior(candidate, 1));
    expect(all.map((candidate) => forward.posterior(candidate, 1))).toEqual(after.reverse());
    expect(forward.posterior(8, 1)).toEqual({ mean: 0.4, variance: 0, age: 1, ordinal: 6 });
    expect(forward.posterior(7, 1)).toEqual({ mean: 0.5, variance: 0, age: 2, ordinal: 3 });
  });
});

describe('with noise', () => {
  test('a lucky measurement counts for less, the more so the less there is of it', () => {
    const one = beliefs({ ...noisy, 1: { 1: of(1) } }, { 1: [0] });
    const three = beliefs({ ...noisy, 1: { 1: of(1, 1, 1) } }, { 1: [0] });
    const expected = one.prior(1, 1)!.mean;
    expect(expected).toBeLessThan(0.2);
    expect(one.posterior(1, 1)!.mean).toBeGreaterThan(expected);
    expect(one.posterior(1, 1)!.mean).toBeLessThan(1);
    expect(three.posterior(1, 1)!.mean).toBeGreaterThan(one.posterior(1, 1)!.mean);
    expect(three.posterior(1, 1)!.variance).toBeLessThan(one.posterior(1, 1)!.variance);
  });

  test('by the weights of a Kalman filter', () => {
    const known = beliefs({ ...noisy, 1: { 1: of(1) } }, { 1: [0] });
    const { variance: noise } = known.noise;
    expect(noise).toBeCloseTo(0.02, 12);
    // The prior: mean and spread of the baseline's seeds (0, 1, 0, 1, 0.5, 0.5), less the noise.
    const prior = { mean: 0.5, variance: 0.2 - 0.02 };
    const base = known.posterior(0, 1)!;
    expect(base.mean).toBeCloseTo(prior.mean - (prior.variance / (prior.variance + noise)) * prior.mean, 12);
    expect(base.variance).toBeCloseTo((prior.variance * noise) / (prior.variance + noise), 12);
    const before = base.variance + 0.1;
    const child = known.posterior(1, 1)!;
    expect(child.mean).toBeCloseTo(base.mean + (before / (before + noise)) * (1 - base.mean), 12);
    expect(child.variance).toBeCloseTo((before * noise) / (before + noise), 12);
  });

  test('of several rollouts by their mean, whose noise is that of one by their number', () => {
    const known = beliefs({ ...noisy, 1: { 1: of(1, 1, 1) } }, { 1: [0] });
    const { mean, variance } = known.prior(1, 1)!;
    const noise = known.noise.variance / 3;
    expect(known.posterior(1, 1)!.mean).toBeCloseTo(mean + (variance / (variance + noise)) * (1 - mean), 12);
  });

  test('each edit makes what is inherited less sure, and does not move it', () => {
    const known = beliefs(noisy, { 1: [0], 2: [1], 3: [2] });
    const line = [0, 1, 2, 3].map((candidate) => known.posterior(candidate, 2)!);
    expect(line.map(({ mean }) => mean)).toEqual(line.map(() => line[0]!.mean));
    for (let at = 1; at < line.length; at++) expect(line[at]!.variance).toBeCloseTo(line[at - 1]!.variance + 0.1, 12);
    expect(line.map(({ age }) => age)).toEqual([0, 1, 2, 3]);
  });

  test('a belief carries the rollout that it was measured by last', () => {
    const results: Results = { 0: { 1: [[3, 0], [8, 1]] } }; // prettier-ignore
    expect(beliefs(results).posterior(0, 1)!.ordinal).toBe(8);
  });
});

describe('over several seeds', () => {
  test('the mean of what is known, with its standard error', () => {
    const known = beliefs({ 0: { 1: of(0), 2: of(1), 3: of(0.5) } }, { 1: [0] });
    const { mean, error } = known.mean(1, [1, 2, 3, 99])!;
    expect(mean).toBe(0.5);
    expect(error).toBeCloseTo(Math.sqrt(0.25 / 3), 12);
    expect(known.mean(1, [2])).toEqual({ mean: 1, error: 0 });
    expect(known.mean(1, [99])).toBeNull();
  });

  test('noise adds to the error', () => {
    const steady = beliefs({ 0: { 1: of(0), 2: of(1) } }).mean(0, [1, 2])!;
    const shaky = beliefs({ 0: { 1: of(0), 2: of(1), 3: of(0.2, 0.9) } }).mean(0, [1, 2])!;
    expect(shaky.error).toBeGreaterThan(0);
    expect(beliefs({ 0: { 1: of(0.5), 2: of(0.5), 3: of(0.2, 0.9) } }).mean(0, [1])!.error).toBeGreaterThan(0);
    expect(beliefs({ 0: { 1: of(0.5) } }).mean(0, [1])!.error).toBe(0);
    expect(steady.error).toBeCloseTo(0.5, 12);
  });
});
