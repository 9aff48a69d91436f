import { describe, expect, test } from '@jest/globals';
import type { GepaConfig } from '../../../../src/core/algorithms/gepa/config.js';
import { gainedOn, decideAcceptance } from '../../../../src/core/algorithms/gepa/acceptance.js';
import { rewardModelOf } from '../../../../src/core/search/model-cache.js';
import type { Results } from '../../../../src/core/search/results.js';
import { createGepa, type GepaState, type Trial } from '../../../../src/core/algorithms/gepa/state.js';
import { config } from './driver.js';

let ordinal = 0;
const of = (...rewards: number[]) => rewards.map((reward) => [ordinal++, reward] as const);

/** A search over train seeds 0 to 9 in that order, with these results and this lineage. */
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
  return { candidate: 1, parents: [0], offered: [], shown: [0, 1], removed: [], rounds: 1, ...overrides };
}

const judged = (state: GepaState, of: Trial) => decideAcceptance(state, rewardModelOf(state), of);

describe('a child without noise', () => {
  const parent = { 0: of(0), 1: of(0), 2: of(1), 3: of(1), 4: of(0.5) };

  test('that gains nothing is rejected at once', () => {
    const state = given({ 0: parent, 1: { 0: of(0), 1: of(0) } }, { 1: [0] });
    expect(judged(state, trial())).toEqual({ accepted: false, expectedSum: 0, childSum: 0 });
  });

  test('that loses as much as it gains is rejected', () => {
    const results = { 0: { ...parent, 1: of(0.5) }, 1: { 0: of(0.5), 1: of(0) } };
    expect(judged(given(results, { 1: [0] }), trial())).toEqual({ accepted: false, expectedSum: 0.5, childSum: 0.5 });
  });

  test('that gains is guarded by a seed that its parent solves best', () => {
    const state = given({ 0: parent, 1: { 0: of(1), 1: of(0) } }, { 1: [0] });
    expect(judged(state, trial())).toEqual({ ask: [[1, 2]] });
  });

  test('is accepted when the guard keeps what it has', () => {
    const state = given({ 0: parent, 1: { 0: of(1), 1: of(0), 2: of(1) } }, { 1: [0] });
    expect(judged(state, trial({ rounds: 2 }))).toEqual({ accepted: true, expectedSum: 1, childSum: 2 });
  });

  test('is rejected when the guard catches that it lost as much', () => {
    const state = given({ 0: parent, 1: { 0: of(1), 1: of(0), 2: of(0) } }, { 1: [0] });
    expect(judged(state, trial({ rounds: 2 }))).toEqual({ accepted: false, expectedSum: 1, childSum: 1 });
  });

  test('where its parent solves nothing else, needs no guard', () => {
    const state = given({ 0: { 0: of(0), 1: of(0) }, 1: { 0: of(0.5), 1: of(0) } }, { 1: [0] });
    expect(judged(state, trial())).toEqual({ accepted: true, expectedSum: 0, childSum: 0.5 });
  });

  test('a seed that nobody of its line was run on counts for nothing', () => {
    const state = given({ 0: { 0: of(0) }, 1: { 0: of(0), 7: of(1) } }, { 1: [0] });
    expect(judged(state, trial({ shown: [0, 7] }))).toEqual({ accepted: false, expectedSum: 0, childSum: 0 });
  });
});

describe('a child that costs less', () => {
  const parent = { 0: of(0), 1: of(0), 2: of(1), 3: of(1), 4: of(0.5) };
  const costs = { 0: [50, 5], 1: [16, 2] } as const;
  const costing = (state: GepaState): GepaState => ({ ...state, costs });

  test('and gains nothing is guarded, then accepted as cheaper', () => {
    const shown = costing(given({ 0: parent, 1: { 0: of(0), 1: of(0) } }, { 1: [0] }));
    expect(judged(shown, trial())).toEqual({ ask: [[1, 2]] });
    const guarded = costing(given({ 0: parent, 1: { 0: of(0), 1: of(0), 2: of(1) } }, { 1: [0] }));
    expect(judged(guarded, trial({ rounds: 2 }))).toEqual({
      ...{ accepted: true, cheaper: true },
      ...{ expectedSum: 1, childSum: 1 },
    });
  });

  test('is rejected where it loses anything', () => {
    const lost = costing(given({ 0: parent, 1: { 0: of(0), 1: of(0), 2: of(0.9) } }, { 1: [0] }));
    expect(judged(lost, trial({ rounds: 2 }))).toEqual({ accepted: false, expectedSum: 1, childSum: 0.9 });
  });

  test('is rejected where there was nothing to lose', () => {
    const nothing = { 0: of(0), 1: of(0) };
    const state = costing(given({ 0: nothing, 1: nothing }, { 1: [0] }));
    expect(judged(state, trial())).toEqual({ accepted: false, expectedSum: 0, childSum: 0 });
    expect(judged(state, trial({ rounds: 2 }))).toMatchObject({ accepted: false });
  });

  test('and gains is accepted for its gain', () => {
    const state = costing(given({ 0: parent, 1: { 0: of(1), 1: of(0), 2: of(1) } }, { 1: [0] }));
    expect(judged(state, trial({ rounds: 2 }))).toEqual({ accepted: true, expectedSum: 1, childSum: 2 });
  });

  test('is not cheaper if it saves less than a tenth or the cost is unknown', () => {
    const verdictAt = (own: NonNullable<GepaState['costs']>) =>
      judged({ ...given({ 0: parent, 1: { 0: of(0), 1: of(0) } }, { 1: [0] }), costs: own }, trial());
    expect(verdictAt({ 0: [50, 5], 1: [18, 2] })).toMatchObject({ accepted: false });
    expect(verdictAt({ 0: [50, 5] })).toMatchObject({ accepted: false });
    expect(verdictAt({ 1: [2, 2] })).toMatchObject({ accepted: false });
  });
});

describe('the guard', () => {
  // 1 taught seeds 5 and 6, 2 taught 7; 3 comes of both; 4 is on trial.
  const results: Results = {
    0: { 0: of(0), 2: of(1), 3: of(1), 5: of(0), 6: of(0), 7: of(0) },
    1: { 5: of(1), 6: of(1) },
    2: { 7: of(1) },
    4: { 0: of(1) },
  };
  const lineage = { 1: [0], 2: [1], 3: [2], 4: [3] };
  const asked = (removed: number[], overrides: Partial<GepaConfig> = {}) => {
    const state = given(results, lineage, overrides);
    const step = judged(state, trial({ candidate: 4, parents: [3], shown: [0], removed }));
    return 'ask' in step ? step.ask.map(([, seed]) => seed) : null;
  };

  test('is one seed where nothing of the text was removed: the longest not looked at', () => {
    expect(asked([])).toEqual([2]);
  });

  test.each<[string, number[], number[]]>([
    ['1', [1], [5, 6, 2]],
    ['2', [2], [7, 2, 3]],
    ['both', [1, 2], [5, 6, 7]],
    ['one who taught nothing', [3], [2, 3, 5]],
  ])('where the text lacks words of %s, begins with the seeds that they were for', (_, removed, expected) => {
    expect(asked(removed)).toEqual(expected);
  });

  test('is not cut to the minibatch where more was lost, but to four', () => {
    expect(asked([1, 2], { minibatchSize: 1 })).toEqual([5, 6, 7]);
    expect(asked([1], { minibatchSize: 1 })).toEqual([5, 6]);
    expect(asked([1, 2], { minibatchSize: 9 })).toHaveLength(4);
  });

  test('does not run what the child ran already', () => {
    const state = given({ ...results, 4: { 0: of(1), 5: of(1) } }, lineage);
    const step = judged(state, trial({ candidate: 4, parents: [3], shown: [0, 5], removed: [1] }));
    expect(step).toEqual({ ask: [6, 2, 3].map((seed) => [4, seed]) });
  });

  test('a seed counts as gained if the reward exceeds the expected reward', () => {
    const state = given(results, lineage);
    const beliefs = rewardModelOf(state);
    const gained = [0, 1, 2, 3].map((one) => [5, 6, 7, 2].filter((seed) => gainedOn(state, beliefs, one, seed)));
    expect(gained).toEqual([[], [5, 6], [7], []]);
  });
});

describe('a child where rewards are noisy', () => {
  // Equal rollouts that differ by 1: a variance of 0.5.
  const parent = { 0: of(0), 1: of(0), 8: of(0, 1), 9: of(0, 1) };

  test('with a gain within the noise is repeated, and so is its parent', () => {
    const state = given({ 0: parent, 1: { 0: of(0.3), 1: of(0.1), 8: of(0.5) } }, { 1: [0] });
    expect(judged(state, trial({ rounds: 2 }))).toEqual({ ask: [[0, 0], [1, 0], [0, 1], [1, 1]] }); // prettier-ignore
  });

  test('is rejected if its gain stays within the noise', () => {
    const state = given({ 0: parent, 1: { 0: of(0.3), 1: of(0.1), 8: of(0.5) } }, { 1: [0] });
    const { accepted } = judged(state, trial({ rounds: 3 })) as { accepted: boolean };
    expect(accepted).toBe(false);
  });

  test('with a gain that does is accepted', () => {
    const state = given({ 0: parent, 1: { 0: of(1), 1: of(1), 8: of(1) } }, { 1: [0] });
    expect(judged(state, trial({ rounds: 2 }))).toMatchObject({ accepted: true, childSum: 3 });
  });

  test('the same gain is enough without noise', () => {
    const steady = { ...parent, 8: of(0.5), 9: of(0.5) };
    const state = given({ 0: steady, 1: { 0: of(0.3), 1: of(0.1), 8: of(0.5) } }, { 1: [0] });
    expect(judged(state, trial({ rounds: 2 }))).toMatchObject({ accepted: true });
  });
});

describe('a merge', () => {
  const results = { 0: { 0: of(0), 1: of(0) }, 1: { 0: of(1) }, 2: { 1: of(1) } };
  const lineage = { 1: [0], 2: [0], 3: [1, 2] };
  const merged = (...rewards: [number, number]) => {
    const [first, second] = rewards;
    const state = given({ ...results, 3: { 0: of(first), 1: of(second) } }, lineage);
    return judged(state, trial({ candidate: 3, parents: [1, 2] }));
  };

  test('is accepted when it keeps what each of its parents gained, without a gain of its own', () => {
    expect(merged(1, 1)).toEqual({ accepted: true, expectedSum: 2, childSum: 2 });
  });

  test('is rejected when it loses any of it', () => {
    expect(merged(1, 0.9)).toMatchObject({ accepted: false, expectedSum: 2, childSum: 1.9 });
  });

  test('may lose what noise explains', () => {
    const shaky = { ...results, 0: { ...results[0], 8: of(0, 1), 9: of(0, 1) } };
    const state = given({ ...shaky, 3: { 0: of(0.9), 1: of(0.9) } }, lineage);
    expect(judged(state, trial({ candidate: 3, parents: [1, 2] }))).toMatchObject({ accepted: true });
  });
});
