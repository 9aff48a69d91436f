import { describe, expect, test } from '@jest/globals';
import {
  coveringSets,
  firstSets,
  usableOf,
  toDescribe,
  demoCandidates,
} from '../../../../src/core/algorithms/mipro/demos.js';
import { goodRewardThreshold } from '../../../../src/core/algorithms/mipro/good-rollouts.js';
import { rolloutsOf } from '../../../../src/core/search/results.js';
import type { MiproConfig } from '../../../../src/core/algorithms/mipro/config.js';
import {
  createMipro,
  type DemoSet,
  type MiproState,
  type UsableDemos,
} from '../../../../src/core/algorithms/mipro/state.js';
import { seedRng } from '../../../../src/core/math/random.js';
import { addResults } from '../../../../src/core/search/results.js';
import { config } from './driver.js';

type Rollout = [candidate: number, seed: number, reward: number];

/** A state with results of the rollouts, in this order from ordinal 0. */
function stateOf(rollouts: Rollout[], overrides: Partial<MiproConfig> = {}): MiproState {
  const measured = rollouts.map(([candidate, seed, reward], ordinal) => ({ candidate, seed, ordinal, reward }));
  return { ...createMipro(config(overrides)), results: addResults({}, measured) };
}

const none: DemoSet = { bootstrapped: [], labeled: [] };
const unusable: UsableDemos = { ...none, sameAnswer: [] };
const sizes = (sets: DemoSet[]) => sets.map(({ bootstrapped, labeled }) => [bootstrapped.length, labeled.length]);

describe('the threshold of a good reward', () => {
  test.each<[string, number[], number]>([
    ['is four fifths of the way from the worst to the best reward', [0.2, 0.7, 0.4], 0.6],
    ['is also computed below 0', [-10, 0], -2],
    ['is 1 if all rewards are equal', [0.5, 0.5], 1],
    ['is 1 without rollouts', [], 1],
  ])('%s', (_, rewards, expected) => {
    const all = rewards.map((reward, ordinal) => ({ ordinal, candidate: 0, seed: ordinal, reward }));
    expect(goodRewardThreshold(all)).toBeCloseTo(expected, 9);
  });
});

describe('findDemos requests', () => {
  const rollouts: Rollout[] = [
    [0, 0, 0.2],
    [0, 10, 1],
    [0, 1, 0.9],
    [1, 2, 1],
    [0, 3, 0],
  ];

  test('list rollouts on train seeds, good ones first, the best of them before the others', () => {
    expect(demoCandidates(stateOf(rollouts))).toEqual([3, 2, 0, 4]);
  });

  test('list only good rollouts if labeled demonstrations are off', () => {
    expect(demoCandidates(stateOf(rollouts, { maxLabeledDemos: 0 }))).toEqual([3, 2]);
  });

  test('list each seed once, good and other rollouts apart, and nothing if none is new', () => {
    const state = stateOf([...rollouts, [2, 2, 1], [2, 1, 0]]);
    expect(demoCandidates(state)).toEqual([3, 2, 0, 4, 6]);
    expect(demoCandidates({ ...state, searchedForDemos: 6 })).toEqual([3, 2, 0, 4, 6]);
    expect(demoCandidates({ ...state, searchedForDemos: 7 })).toEqual([]);
  });

  test('list at most ten rollouts to describe the task, and only once', () => {
    const many = stateOf(Array.from({ length: 13 }, (_, at): Rollout => [at, at < 2 ? 10 + at : 0, 1]));
    expect(toDescribe(many)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(toDescribe({ ...many, components: ['system'] })).toEqual([]);
  });

  test('list at most a hundred good and a hundred other rollouts', () => {
    const many = stateOf(
      Array.from({ length: 500 }, (_, at): Rollout => [0, at, at % 2]),
      {
        trainSeeds: Array.from({ length: 500 }, (_, at) => at),
      },
    );
    const candidates = demoCandidates(many);
    expect(candidates).toHaveLength(200);
    expect(candidates.slice(0, 100).every((ordinal) => ordinal % 2 === 1)).toBe(true);
    expect(candidates.slice(100).every((ordinal) => ordinal % 2 === 0)).toBe(true);
  });
});

describe('usable demonstrations', () => {
  const state = stateOf([
    [0, 0, 1],
    [0, 1, 0],
    [1, 0, 1],
    [1, 1, 1],
    [1, 2, 1],
  ]);

  test('keep the order of the answer and the first rollout of a seed, and bootstrap only good rewards', () => {
    const all = [4, 3, 2, 1, 0];
    const found = usableOf({ component: null, bootstrapped: all, labeled: all, sameAnswer: [] }, state);
    expect(found).toEqual({ bootstrapped: [4, 3, 2], labeled: [4, 3, 2], sameAnswer: [] });
  });

  test('show a shared answer, not the model’s words', () => {
    const slot = { component: null, bootstrapped: [4, 3, 2], labeled: [4, 3, 2], sameAnswer: [[4, 2]] };
    expect(usableOf(slot, state)).toMatchObject({ bootstrapped: [3], labeled: [4, 3, 2] });
  });
});

describe('the initial demonstration sets', () => {
  const many = stateOf(
    Array.from({ length: 20 }, (_, at): Rollout => [0, at, 1]),
    { maxBootstrappedDemos: 2, maxLabeledDemos: 4, numCandidates: 6 },
  );
  const usable = { bootstrapped: [0, 1, 2, 3, 4], labeled: [5, 6, 7, 8, 9], sameAnswer: [] };

  test('are empty, the most covering, half of these, labeled only, then drawn, all different', () => {
    const [sets] = firstSets(usable, many, seedRng(1));
    expect(sets).toHaveLength(6);
    expect(sets.slice(0, 4)).toEqual([
      none,
      { bootstrapped: [0, 1], labeled: [5, 6] },
      { bootstrapped: [], labeled: [5, 6, 7, 8] },
      { bootstrapped: [0, 1], labeled: [] },
    ]);
    for (const [bootstrapped, labeled] of sizes(sets.slice(4))) {
      expect(bootstrapped).toBeLessThanOrEqual(2);
      expect(bootstrapped! + labeled!).toBeGreaterThanOrEqual(1);
      expect(bootstrapped! + labeled!).toBeLessThanOrEqual(4);
    }
    expect(new Set(sets.map((set) => JSON.stringify(set))).size).toBe(6);
  });

  test('depend on the random generator only', () => {
    expect(firstSets(usable, many, seedRng(1))).toEqual(firstSets(usable, many, seedRng(1)));
    expect(firstSets(usable, many, seedRng(1))[0]).not.toEqual(firstSets(usable, many, seedRng(2))[0]);
  });

  test('are fewer if demonstrations do not suffice for different sets', () => {
    expect(firstSets(unusable, many, seedRng(1))[0]).toEqual([none]);
    expect(firstSets({ ...unusable, bootstrapped: [3] }, many, seedRng(1))[0]).toEqual([
      none,
      { bootstrapped: [3], labeled: [] },
    ]);
  });

  test('are two even for a single instruction', () => {
    const single = { ...many, config: { ...many.config, numCandidates: 1 } };
    expect(firstSets(usable, single, seedRng(1))[0]).toHaveLength(2);
  });

  test('contain no instance as both bootstrapped and labeled', () => {
    // Seed 0 has a bad and a good rollout.
    const twice = stateOf([
      [0, 0, 0],
      [0, 0, 1],
      [0, 1, 0],
    ]);
    const [sets] = firstSets({ bootstrapped: [1], labeled: [0, 2], sameAnswer: [] }, twice, seedRng(1));
    for (const { bootstrapped, labeled } of sets) {
      if (bootstrapped.includes(1)) expect(labeled).not.toContain(0);
    }
  });
});

describe('the sets that cover open failures', () => {
  const state = stateOf(
    Array.from({ length: 8 }, (_, at): Rollout => [0, at, 1]),
    { maxBootstrappedDemos: 4, maxLabeledDemos: 0, trainSeeds: [0, 1, 2, 3, 4, 5, 6, 7] },
  );
  const usable = { ...unusable, bootstrapped: [7, 6, 5, 4, 3, 2, 1, 0] };
  const bootstrapped = (sets: DemoSet[]) => sets.map((set) => set.bootstrapped);

  test('are the most covering rollouts, alone and beside half of the leader’s own', () => {
    const own = { bootstrapped: [0, 1, 2, 3], labeled: [] };
    const sets = coveringSets(usable, [none, own], own, state);
    expect(bootstrapped(sets)).toEqual([
      [7, 6, 5, 4],
      [0, 1, 7, 6],
    ]);
  });

  test('fill the leader’s own up to the maximum', () => {
    const own = { bootstrapped: [0, 1, 2], labeled: [] };
    expect(bootstrapped(coveringSets(usable, [none, own], own, state))).toContainEqual([0, 1, 2, 7]);
  });

  test('have labeled rollouts of other seeds after the bootstrapped ones, within both maxima', () => {
    const labels = { ...state, config: { ...state.config, maxBootstrappedDemos: 2, maxLabeledDemos: 3 } };
    const sets = coveringSets({ bootstrapped: [7, 6, 5], labeled: [7, 4, 3], sameAnswer: [] }, [none], none, labels);
    expect(sets).toEqual([{ bootstrapped: [7, 6], labeled: [4] }]);
  });

  test('are new', () => {
    expect(coveringSets(usable, [none, { bootstrapped: [7, 6, 5, 4], labeled: [] }], none, state)).toEqual([]);
    expect(coveringSets(unusable, [none], none, state)).toEqual([]);
  });
});

test('rolloutsOf lists rollouts in the order of their ordinals', () => {
  const given: Rollout[] = [
    [2, 5, 1],
    [0, 5, 0.5],
    [2, 1, 0],
  ];
  expect(rolloutsOf(stateOf(given).results)).toEqual(
    given.map(([candidate, seed, reward], ordinal) => ({ ordinal, candidate, seed, reward })),
  );
});
