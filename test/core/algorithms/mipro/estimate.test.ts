import { describe, expect, test } from '@jest/globals';
import { estimateOf } from '../../../../src/core/algorithms/mipro/estimate.js';
import { createMipro, type MiproState } from '../../../../src/core/algorithms/mipro/state.js';
import { rewardModelOf } from '../../../../src/core/search/model-cache.js';
import type { CandidateSummary } from '../../../../src/core/search/protocol.js';
import { addResults } from '../../../../src/core/search/results.js';
import { config } from './driver.js';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

/** The baseline scores 0.2 on each evaluation seed; candidate 1 is accepted at ordinal 20. */
function stateOf(later: readonly { seed: number; reward: number }[], from = 20): MiproState {
  const evaluationSeeds = range(100, 110);
  const baseline = evaluationSeeds.map((seed, ordinal) => ({ candidate: 0, seed, ordinal, reward: 0.2 }));
  const own = later.map(({ seed, reward }, at) => ({ candidate: 1, seed, ordinal: from + at, reward }));
  const train = later.map(({ seed }, at) => ({ candidate: 0, seed, ordinal: 10 + at, reward: 0 }));
  const state = createMipro(config({ evaluationSeeds, trainSeeds: range(0, 10) }));
  const summary = (candidate: number, reward: number | null): CandidateSummary => {
    return { candidate, parents: candidate === 0 ? [] : [0], generation: candidate, status: 'proposed', reward };
  };
  return {
    ...state,
    best: { candidate: 0, reward: 0.2 },
    candidates: [summary(0, 0.2), summary(1, null)],
    acceptedAt: { 1: 20 },
    results: addResults({}, [...baseline, ...train, ...own]),
  };
}

const estimate = (state: MiproState, candidate = 1) => estimateOf(state, rewardModelOf(state), candidate);
const scored = (reward: number) => range(0, 8).map((seed) => ({ seed, reward }));

describe('the estimate of a candidate', () => {
  test('is the measured mean of an evaluated one', () => {
    expect(estimate(stateOf([]), 0)).toEqual({ mean: 0.2, low: 0.2, high: 0.2 });
  });

  test('is above that of its evaluated ancestor, with an interval around it', () => {
    const { mean, low, high } = estimate(stateOf([]));
    expect(mean).toBeGreaterThan(0.2);
    expect(low).toBeLessThan(mean);
    expect(high).toBeGreaterThan(mean);
  });

  test('rises and falls with rollouts after its test', () => {
    const expected = estimate(stateOf([])).mean;
    expect(estimate(stateOf(scored(0.8))).mean).toBeGreaterThan(expected);
    expect(estimate(stateOf(scored(0))).mean).toBeLessThan(expected);
  });

  test('ignores the rollouts of its test, whose seeds were chosen', () => {
    expect(estimate(stateOf(scored(1), 10))).toEqual(estimate(stateOf([])));
  });
});
