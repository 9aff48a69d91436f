import { describe, expect, test } from '@jest/globals';
import { drawSet, type Draw } from '../../../../src/core/algorithms/mipro/demo-draws.js';
import type { DemoSet, UsableDemos } from '../../../../src/core/algorithms/mipro/state.js';
import { seedRng } from '../../../../src/core/math/random.js';
import { addResults } from '../../../../src/core/search/results.js';
import { config } from './driver.js';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
/** Rollouts 0 to 29 ran seeds 0 to 29; rollout 30 ran seed 0 again. */
const measured = range(0, 31).map((ordinal) => ({ candidate: 0, seed: ordinal % 30, ordinal, reward: 1 }));
const state = {
  results: addResults({}, measured),
  config: config({ maxBootstrappedDemos: 3, maxLabeledDemos: 8 }),
};
/** Four labels: twelve, nine, six and two rollouts have them; one has an answer of its own. */
const labels = [range(0, 12), range(12, 21), range(21, 27), [27, 28]];
const usable: UsableDemos = { bootstrapped: [30, 3, 13, 22, 5], labeled: range(0, 30), sameAnswer: labels };
const none: DemoSet = { bootstrapped: [], labeled: [] };
const membersOf = ({ bootstrapped, labeled }: DemoSet) => [...bootstrapped, ...labeled];
const drawn = (draw: Draw, own: DemoSet) =>
  range(0, 60).map((seed) => drawSet(state, usable, own, draw, seedRng(seed))[0]);

describe.each<Draw>(['balanced', 'replaced', 'reordered'])('a %s set', (draw) => {
  const own = { bootstrapped: [3, 13], labeled: [0, 22, 27] };

  test('is within the maxima, has each seed once, and good rollouts alone are bootstrapped', () => {
    for (const set of drawn(draw, own)) {
      expect(set.bootstrapped.length).toBeLessThanOrEqual(3);
      expect(membersOf(set).length).toBeLessThanOrEqual(8);
      expect(membersOf(set).length).toBeGreaterThan(0);
      const seeds = membersOf(set).map((ordinal) => ordinal % 30);
      expect(new Set(seeds).size).toBe(seeds.length);
      expect(usable.bootstrapped).toEqual(expect.arrayContaining(set.bootstrapped));
    }
  });

  test('depends on the random generator', () => {
    expect(drawn(draw, own)).toEqual(drawn(draw, own));
    expect(new Set(drawn(draw, own).map((set) => JSON.stringify(set))).size).toBeGreaterThan(10);
  });
});

/** Without a second rollout of a seed, and without an answer of its own. */
const once = { ...usable, bootstrapped: [3, 13, 22, 5], labeled: range(0, 29) };

test('a balanced set has every label about equally often', () => {
  for (const seed of range(0, 60)) {
    const [set] = drawSet(state, once, none, 'balanced', seedRng(seed));
    const counts = labels.map((label) => membersOf(set).filter((ordinal) => label.includes(ordinal)).length);
    // The fourth label has two rollouts: as many as each has in the largest set.
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  }
});

test('a balanced set is full; replaced ones have different sizes, from half of the maximum on', () => {
  for (const seed of range(0, 60)) {
    expect(membersOf(drawSet(state, once, none, 'balanced', seedRng(seed))[0]).length).toBe(8);
  }
  const own = { bootstrapped: [], labeled: [0, 1, 2, 4, 5, 6] };
  const sizes = new Set(drawn('replaced', own).map((set) => membersOf(set).length));
  expect(sizes.size).toBeGreaterThan(2);
  expect(Math.max(...sizes)).toBe(8);
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(3);
});

test('a replaced set keeps half of its own, and completes the labels', () => {
  const own = { bootstrapped: [], labeled: [0, 1, 2, 4] };
  for (const seed of range(0, 60)) {
    const [set] = drawSet(state, once, own, 'replaced', seedRng(seed));
    const kept = membersOf(set).filter((ordinal) => own.labeled.includes(ordinal));
    expect(kept.length).toBeGreaterThanOrEqual(2);
    const counts = labels.map((label) => membersOf(set).filter((ordinal) => label.includes(ordinal)).length);
    if (membersOf(set).length >= 5) for (const count of counts.slice(1)) expect(count).toBeGreaterThanOrEqual(1);
  }
});

test('a reordered set has the same members', () => {
  const own = { bootstrapped: [3, 13], labeled: [0, 22, 27] };
  for (const set of drawn('reordered', own)) {
    expect(membersOf(set).sort((a, b) => a - b)).toEqual(membersOf(own).sort((a, b) => a - b));
  }
});
