import { describe, expect, test } from '@jest/globals';
import type { GepaConfig } from '../../../../src/core/algorithms/gepa/config.js';
import { decideAcceptance } from '../../../../src/core/algorithms/gepa/acceptance.js';
import { gainedOn } from '../../../../src/core/search/targeted-test.js';
import { rewardModelOf } from '../../../../src/core/search/model-cache.js';
import type { Results } from '../../../../src/core/search/results.js';
import { createGepa, type GepaState, type Trial } from '../../../../src/core/algorithms/gepa/state.js';
import { config } from './driver.js';

let ordinal = 0;
const of = (...rewards: number[]) => rewards.map((reward) => [ordinal++, reward] as const);

/** A search over train seeds 0 to 9 in that order. */
function given(results: Results, lineage: Record<number, number[]>, overrides: Partial<GepaConfig> = {}): GepaState {
  const trainSeeds = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const state = createGepa(config({ trainSeeds, minibatchSize: 3, ...overrides }));
  const candidates = Object.entries({ 0: [], ...lineage }).map(([candidate, parents]) => {
    return {
      candidate: Number(candidate),
      parents,
      generation: 0,
      status: 'proposed',
      reward: null,
    } as const;
  });
  return { ...state, order: trainSeeds, candidates, results };
}

function trial(overrides: Partial<Trial> = {}): Trial {
  return {
    candidate: 1,
    generation: 1,
    parents: [0],
    offered: [],
    shown: [0, 1],
    removed: [],
    rounds: 1,
    ...overrides,
  };
}

const decide = (state: GepaState, of: Trial) => decideAcceptance(state, rewardModelOf(state), of);

describe('a child without noise', () => {
  const parent = { 0: of(0), 1: of(0), 2: of(1), 3: of(1), 4: of(0.5) };

  test('is rejected at once without a gain', () => {
    const state = given({ 0: parent, 1: { 0: of(0), 1: of(0) } }, { 1: [0] });
    expect(decide(state, trial())).toEqual({ accepted: false, expectedSum: 0, childSum: 0 });
  });

  test('is rejected if it loses as much as it gains', () => {
    const results = { 0: { ...parent, 1: of(0.5) }, 1: { 0: of(0.5), 1: of(0) } };
    expect(decide(given(results, { 1: [0] }), trial())).toEqual({ accepted: false, expectedSum: 0.5, childSum: 0.5 });
  });

  test('is accepted for a gain without a regression seed if it only adds text', () => {
    const state = given({ 0: parent, 1: { 0: of(1), 1: of(0) } }, { 1: [0] });
    expect(decide(state, trial())).toEqual({ accepted: true, expectedSum: 0, childSum: 1 });
  });

  test('runs regression seeds that its parent solves, after a gain, if it lacks text', () => {
    const state = given({ 0: parent, 1: { 0: of(1), 1: of(0) } }, { 1: [0] });
    const step = decide(state, trial({ removed: [0] }));
    expect(step).toEqual({ ask: [2, 3, 4].map((seed) => [1, seed]) });
  });

  test('is accepted if the regression seed keeps its reward', () => {
    const state = given({ 0: parent, 1: { 0: of(1), 1: of(0), 2: of(1) } }, { 1: [0] });
    expect(decide(state, trial({ rounds: 2 }))).toEqual({ accepted: true, expectedSum: 1, childSum: 2 });
  });

  test('is rejected if the regression seed loses as much as the gain', () => {
    const state = given({ 0: parent, 1: { 0: of(1), 1: of(0), 2: of(0) } }, { 1: [0] });
    expect(decide(state, trial({ rounds: 2 }))).toEqual({ accepted: false, expectedSum: 1, childSum: 1 });
  });

  test('needs no regression seed if its parent solves no other seed', () => {
    const state = given({ 0: { 0: of(0), 1: of(0) }, 1: { 0: of(0.5), 1: of(0) } }, { 1: [0] });
    expect(decide(state, trial())).toEqual({ accepted: true, expectedSum: 0, childSum: 0.5 });
  });

  test('ignores a seed without results of an ancestor', () => {
    const state = given({ 0: { 0: of(0) }, 1: { 0: of(0), 7: of(1) } }, { 1: [0] });
    expect(decide(state, trial({ shown: [0, 7] }))).toEqual({ accepted: false, expectedSum: 0, childSum: 0 });
  });
});

describe('a cheaper child', () => {
  const parent = { 0: of(0), 1: of(0), 2: of(1), 3: of(1), 4: of(0.5) };
  const costs = { 0: [50, 5], 1: [16, 2] } as const;
  const costing = (state: GepaState): GepaState => ({ ...state, costs });

  test('runs a regression seed without a gain, and is accepted as cheaper', () => {
    const shown = costing(given({ 0: parent, 1: { 0: of(0), 1: of(0) } }, { 1: [0] }));
    expect(decide(shown, trial())).toEqual({ ask: [[1, 2]] });
    const tested = costing(given({ 0: parent, 1: { 0: of(0), 1: of(0), 2: of(1) } }, { 1: [0] }));
    expect(decide(tested, trial({ rounds: 2 }))).toEqual({
      accepted: true,
      saves: 'cheaper',
      expectedSum: 1,
      childSum: 1,
    });
  });

  test('is rejected after any loss', () => {
    const lost = costing(given({ 0: parent, 1: { 0: of(0), 1: of(0), 2: of(0.9) } }, { 1: [0] }));
    expect(decide(lost, trial({ rounds: 2 }))).toEqual({ accepted: false, expectedSum: 1, childSum: 0.9 });
  });

  test('is rejected if its parent has no reward to lose', () => {
    const nothing = { 0: of(0), 1: of(0) };
    const state = costing(given({ 0: nothing, 1: nothing }, { 1: [0] }));
    expect(decide(state, trial())).toEqual({ accepted: false, expectedSum: 0, childSum: 0 });
    expect(decide(state, trial({ rounds: 2 }))).toMatchObject({ accepted: false });
  });

  test('is accepted for a gain', () => {
    const state = costing(given({ 0: parent, 1: { 0: of(1), 1: of(0), 2: of(1) } }, { 1: [0] }));
    expect(decide(state, trial({ rounds: 2 }))).toEqual({ accepted: true, expectedSum: 1, childSum: 2 });
  });

  test('is not cheaper if it saves less than a tenth or the cost is unknown', () => {
    const verdictAt = (own: NonNullable<GepaState['costs']>) =>
      decide({ ...given({ 0: parent, 1: { 0: of(0), 1: of(0) } }, { 1: [0] }), costs: own }, trial());
    expect(verdictAt({ 0: [50, 5], 1: [18, 2] })).toMatchObject({ accepted: false });
    expect(verdictAt({ 0: [50, 5] })).toMatchObject({ accepted: false });
    expect(verdictAt({ 1: [2, 2] })).toMatchObject({ accepted: false });
  });
});

describe('regression seeds', () => {
  // Candidate 1 gained on seeds 5 and 6, candidate 2 on 7; 3 descends from both; 4 is tested.
  const results: Results = {
    0: { 0: of(0), 2: of(1), 3: of(1), 5: of(0), 6: of(0), 7: of(0) },
    1: { 5: of(1), 6: of(1) },
    2: { 7: of(1) },
    4: { 0: of(1) },
  };
  const lineage = { 1: [0], 2: [1], 3: [2], 4: [3] };
  const regressionSeeds = (removed: number[], overrides: Partial<GepaConfig> = {}) => {
    const state = given(results, lineage, overrides);
    const step = decide(state, trial({ candidate: 4, parents: [3], shown: [0], removed }));
    return 'ask' in step ? step.ask.map(([, seed]) => seed) : null;
  };

  test('are none if no text was removed', () => {
    expect(regressionSeeds([])).toBeNull();
  });

  test.each<[string, number[], number[]]>([
    ['1', [1], [5, 6, 2]],
    ['2', [2], [7, 2, 3]],
    ['1 and 2', [1, 2], [5, 6, 7]],
    ['a candidate without gains', [3], [2, 3, 5]],
  ])('start with the gained seeds of a candidate whose text was removed: %s', (_, removed, expected) => {
    expect(regressionSeeds(removed)).toEqual(expected);
  });

  test('cover all gained seeds of removed text beyond the minibatch size, at most four in total', () => {
    expect(regressionSeeds([1, 2], { minibatchSize: 1 })).toEqual([5, 6, 7]);
    expect(regressionSeeds([1], { minibatchSize: 1 })).toEqual([5, 6]);
    expect(regressionSeeds([1, 2], { minibatchSize: 9 })).toHaveLength(4);
  });

  test('exclude seeds that the child ran already', () => {
    const state = given({ ...results, 4: { 0: of(1), 5: of(1) } }, lineage);
    const step = decide(state, trial({ candidate: 4, parents: [3], shown: [0, 5], removed: [1] }));
    expect(step).toEqual({ ask: [6, 2, 3].map((seed) => [4, seed]) });
  });

  test('count a seed as gained if the reward exceeds the expected reward', () => {
    const state = given(results, lineage);
    const model = rewardModelOf(state);
    const gained = [0, 1, 2, 3].map((candidate) =>
      [5, 6, 7, 2].filter((seed) => gainedOn(state.results, model, candidate, seed)),
    );
    expect(gained).toEqual([[], [5, 6], [7], []]);
  });
});

describe('a child with noisy rewards', () => {
  // Rewards of equal rollouts differ by 1: a variance of 0.5.
  const parent = { 0: of(0), 1: of(0), 8: of(0, 1), 9: of(0, 1) };

  test('repeats child and parent if the gain is within the noise', () => {
    const state = given({ 0: parent, 1: { 0: of(0.3), 1: of(0.1), 8: of(0.5) } }, { 1: [0] });
    expect(decide(state, trial({ rounds: 2 }))).toEqual({ ask: [[0, 0], [1, 0], [0, 1], [1, 1]] }); // prettier-ignore
  });

  test('is rejected if its gain stays within the noise', () => {
    const state = given({ 0: parent, 1: { 0: of(0.3), 1: of(0.1), 8: of(0.5) } }, { 1: [0] });
    const { accepted } = decide(state, trial({ rounds: 3 })) as { accepted: boolean };
    expect(accepted).toBe(false);
  });

  test('is accepted if its gain exceeds the noise', () => {
    const state = given({ 0: parent, 1: { 0: of(1), 1: of(1), 8: of(1) } }, { 1: [0] });
    expect(decide(state, trial({ rounds: 2 }))).toMatchObject({ accepted: true, childSum: 3 });
  });

  test('is accepted with the same gain without noise', () => {
    const steady = { ...parent, 8: of(0.5), 9: of(0.5) };
    const state = given({ 0: steady, 1: { 0: of(0.3), 1: of(0.1), 8: of(0.5) } }, { 1: [0] });
    expect(decide(state, trial({ rounds: 2 }))).toMatchObject({ accepted: true });
  });
});

describe('a merge', () => {
  const results = { 0: { 0: of(0), 1: of(0) }, 1: { 0: of(1) }, 2: { 1: of(1) } };
  const lineage = { 1: [0], 2: [0], 3: [1, 2] };
  const merged = (...rewards: [number, number]) => {
    const [first, second] = rewards;
    const state = given({ ...results, 3: { 0: of(first), 1: of(second) } }, lineage);
    return decide(state, trial({ candidate: 3, parents: [1, 2] }));
  };

  test('is accepted if it keeps the gains of its parents, without a gain of its own', () => {
    expect(merged(1, 1)).toEqual({ accepted: true, expectedSum: 2, childSum: 2 });
  });

  test('is rejected if it loses part of a gain', () => {
    expect(merged(1, 0.9)).toMatchObject({ accepted: false, expectedSum: 2, childSum: 1.9 });
  });

  test('is accepted with a loss within the noise', () => {
    const noisy = { ...results, 0: { ...results[0], 8: of(0, 1), 9: of(0, 1) } };
    const state = given({ ...noisy, 3: { 0: of(0.9), 1: of(0.9) } }, lineage);
    expect(decide(state, trial({ candidate: 3, parents: [1, 2] }))).toMatchObject({ accepted: true });
  });
});
