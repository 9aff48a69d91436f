import { describe, expect, test } from '@jest/globals';
import {
  addUsable,
  firstSets,
  goodRewardThreshold,
  hardSet,
  rolloutsOf,
  toDescribe,
  demoCandidates,
} from '../../../../src/core/algorithms/mipro/demos.js';
import type { MiproConfig } from '../../../../src/core/algorithms/mipro/config.js';
import { createMipro, type DemoSet, type MiproState } from '../../../../src/core/algorithms/mipro/state.js';
import { seedRng } from '../../../../src/core/math/random.js';
import { addResults } from '../../../../src/core/search/results.js';
import { config } from './driver.js';

type Given = [candidate: number, seed: number, reward: number];

/** A state in which these were run, in this order from ordinal 0 on. */
function stateOf(rollouts: Given[], overrides: Partial<MiproConfig> = {}): MiproState {
  const measured = rollouts.map(([candidate, seed, reward], ordinal) => ({ candidate, seed, ordinal, reward }));
  return { ...createMipro(config(overrides)), results: addResults({}, measured) };
}

const none: DemoSet = { bootstrapped: [], labeled: [] };
const sizes = (sets: DemoSet[]) => sets.map(({ bootstrapped, labeled }) => [bootstrapped.length, labeled.length]);

describe('a rollout scored well', () => {
  test.each<[string, number[], number]>([
    ['from four fifths of the way from the worst to the best on', [0.2, 0.7, 0.4], 0.6],
    ['below 0 too', [-10, 0], -2],
    ['where all are equal, when it is solved', [0.5, 0.5], 1],
    ['where nothing was run, when it is solved', [], 1],
  ])('%s', (_, rewards, expected) => {
    const all = rewards.map((reward, ordinal) => ({ ordinal, candidate: 0, seed: ordinal, reward }));
    expect(goodRewardThreshold(all)).toBeCloseTo(expected, 9);
  });
});

describe('findDemos requests', () => {
  const rollouts: Given[] = [
    [0, 0, 0.2],
    [0, 10, 1],
    [0, 1, 0.9],
    [1, 2, 1],
    [0, 3, 0],
  ];

  test('about rollouts on train seeds, those that scored well first, the best of them before the others', () => {
    expect(demoCandidates(stateOf(rollouts))).toEqual([3, 2, 0, 4]);
  });

  test('about those alone that scored well where nothing labelled is wanted', () => {
    expect(demoCandidates(stateOf(rollouts, { maxLabeledDemos: 0 }))).toEqual([3, 2]);
  });

  test('about none twice', () => {
    expect(demoCandidates({ ...stateOf(rollouts), searchedForDemos: 3 })).toEqual([3, 4]);
  });

  test('for ten at most to describe the task from, and only once', () => {
    const many = stateOf(Array.from({ length: 13 }, (_, at): Given => [at, at < 2 ? 10 + at : 0, 1]));
    expect(toDescribe(many)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(toDescribe({ ...many, components: ['system'] })).toEqual([]);
  });

  test('about a hundred of either at most', () => {
    const many = stateOf(Array.from({ length: 500 }, (_, at): Given => [at, 0, at % 2]));
    const asked = demoCandidates(many);
    expect(asked).toHaveLength(200);
    expect(asked.slice(0, 100).every((ordinal) => ordinal % 2 === 1)).toBe(true);
    expect(asked.slice(100).every((ordinal) => ordinal % 2 === 0)).toBe(true);
  });
});

describe('what can be shown', () => {
  const state = stateOf([
    [0, 0, 1],
    [0, 1, 0],
    [1, 0, 1],
    [1, 1, 1],
    [1, 2, 1],
  ]);

  test('uses the earliest rollout of a seed, and answers only with a good reward', () => {
    const all = [0, 1, 2, 3, 4];
    const found = addUsable(none, { component: null, bootstrapped: all, labeled: all }, state);
    expect(found).toEqual({ bootstrapped: [0, 3, 4], labeled: [0, 1, 4] });
  });

  test('stays as it was where a later survey finds the same seeds', () => {
    const before = { bootstrapped: [0], labeled: [1] };
    const found = addUsable(before, { component: null, bootstrapped: [2, 3], labeled: [2, 3] }, state);
    expect(found).toEqual({ bootstrapped: [0, 3], labeled: [1, 2] });
  });

  test('is remembered for the latest two hundred seeds', () => {
    const many = stateOf(Array.from({ length: 300 }, (_, at): Given => [0, at, 1]));
    const all = Array.from({ length: 300 }, (_, at) => at);
    const found = addUsable(none, { component: null, bootstrapped: all, labeled: [] }, many);
    expect(found.bootstrapped).toEqual(all.slice(100));
  });
});

describe('the first sets', () => {
  const many = stateOf(
    Array.from({ length: 20 }, (_, at): Given => [0, at, 1]),
    { maxBootstrappedDemos: 2, maxLabeledDemos: 4, numCandidates: 6 },
  );
  const usable = { bootstrapped: [0, 1, 2, 3, 4], labeled: [5, 6, 7, 8, 9] };

  test('are: none, best, labeled only, then random, all different', () => {
    const [sets] = firstSets(usable, many, seedRng(1));
    expect(sets).toHaveLength(6);
    expect(sets.slice(0, 3)).toEqual([
      none,
      { bootstrapped: [0, 1], labeled: [5, 6] },
      { bootstrapped: [], labeled: [5, 6, 7, 8] },
    ]);
    for (const [good, labeled] of sizes(sets.slice(3))) {
      expect([1, 2]).toContain(good);
      expect(labeled).toBe(4 - good!);
    }
    expect(new Set(sets.map((set) => JSON.stringify(set))).size).toBe(6);
  });

  test('follow from the generator alone', () => {
    expect(firstSets(usable, many, seedRng(1))).toEqual(firstSets(usable, many, seedRng(1)));
    expect(firstSets(usable, many, seedRng(1))[0]).not.toEqual(firstSets(usable, many, seedRng(2))[0]);
  });

  test('are fewer where there is not enough to make different ones of', () => {
    expect(firstSets(none, many, seedRng(1))[0]).toEqual([none]);
    expect(firstSets({ bootstrapped: [3], labeled: [] }, many, seedRng(1))[0]).toEqual([
      none,
      { bootstrapped: [3], labeled: [] },
    ]);
  });

  test('are two even where only one instruction is wanted', () => {
    const one = { ...many, config: { ...many.config, numCandidates: 1 } };
    expect(firstSets(usable, one, seedRng(1))[0]).toHaveLength(2);
  });

  test('show no instance both as it was answered and as it should have been', () => {
    // Seed 0 was run twice: well, and not.
    const twice = stateOf([
      [0, 0, 0],
      [0, 0, 1],
      [0, 1, 0],
    ]);
    const [sets] = firstSets({ bootstrapped: [1], labeled: [0, 2] }, twice, seedRng(1));
    for (const { bootstrapped, labeled } of sets) {
      if (bootstrapped.includes(1)) expect(labeled).toEqual([2]);
    }
  });
});

describe('the set of hard instances', () => {
  const state = stateOf([
    [0, 0, 1],
    [0, 1, 1],
    [0, 2, 1],
    [0, 3, 0],
    [1, 0, 1],
    [1, 1, 0],
    [1, 2, 0.5],
  ]);

  test('holds the instances that scored least, where one scored well or the right answer is known', () => {
    const usable = { bootstrapped: [0, 1, 2], labeled: [0, 1, 2, 3] };
    expect(hardSet(usable, [none], state)).toEqual({ bootstrapped: [1, 2], labeled: [] });
    const more = { ...state, config: { ...state.config, maxLabeledDemos: 4 } };
    expect(hardSet(usable, [none], more)).toEqual({ bootstrapped: [1, 2], labeled: [3, 0] });
  });

  test('is null if the set exists already or nothing can be shown', () => {
    const usable = { bootstrapped: [0, 1, 2], labeled: [] };
    expect(hardSet(usable, [none, { bootstrapped: [1, 2], labeled: [] }], state)).toBeNull();
    expect(hardSet(none, [none], state)).toBeNull();
  });
});

test('rollouts are listed in the order asked', () => {
  const given: Given[] = [
    [2, 5, 1],
    [0, 5, 0.5],
    [2, 1, 0],
  ];
  expect(rolloutsOf(stateOf(given).results)).toEqual(
    given.map(([candidate, seed, reward], ordinal) => ({ ordinal, candidate, seed, reward })),
  );
});
