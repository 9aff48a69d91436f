import { describe, expect, test } from '@jest/globals';
import {
  configProblems,
  defaultMinibatch,
  defaultTrials,
  generationsOf,
  initialInstructions,
  minimumRollouts,
  miproLimits,
  type MiproConfig,
} from '../../../../src/core/algorithms/mipro/config.js';
import { toConfig } from '../../../../src/core/algorithms/mipro/request.js';
import { createMipro } from '../../../../src/core/algorithms/mipro/state.js';
import { policyOptimizationSchema } from '../../../../src/kinds/session/contract/create.js';
import { config, drive, scoring, unpaired } from './driver.js';

const seeds = (count: number) => Array.from({ length: count }, (_, seed) => seed + 10);

describe('configProblems', () => {
  test.each<[Partial<MiproConfig>, string]>([
    [{ numCandidates: 0 }, 'numCandidates'],
    [{ numCandidates: 1.5 }, 'numCandidates'],
    [{ numCandidates: miproLimits.numCandidates + 1 }, 'numCandidates'],
    [{ numTrials: 0 }, 'numTrials'],
    [{ numTrials: 2.5 }, 'numTrials'],
    [{ numTrials: null }, 'numTrials'],
    [{ numTrials: miproLimits.candidates - 4 }, 'numTrials'],
    [{ numTrials: 400, minibatchSize: 38, evaluationSeeds: seeds(38) }, 'numTrials'],
    [{ numTrials: 5, minibatchSize: 1_000, evaluationSeeds: seeds(1_000), repeats: 11 }, 'repeats'],
    [{ maxBootstrappedDemos: -1 }, 'maxBootstrappedDemos'],
    [{ maxBootstrappedDemos: 0.5 }, 'maxBootstrappedDemos'],
    [{ maxLabeledDemos: miproLimits.demos + 1 }, 'maxLabeledDemos'],
    [{ minibatchSize: 0 }, 'minibatchSize'],
    [{ trainSeeds: [] }, 'trainSeeds'],
    [{ evaluationSeeds: [0.5] }, 'evaluationSeeds'],
    [{ rngSeed: 0.5 }, 'rngSeed'],
    [{ patience: 0 }, 'patience'],
    [{ targetReward: Infinity }, 'targetReward'],
    [{ heldoutSeeds: [99, 5] }, 'heldoutSeeds'],
    [{ maxRollouts: 14 }, 'maxRollouts'],
    [{ maxRollouts: 15.5 }, 'maxRollouts'],
    [{ maxRollouts: 15, heldoutSeeds: [99] }, 'maxRollouts'],
    [{ maxRollouts: 15, repeats: 2 }, 'maxRollouts'],
  ])('%j: %s', (overrides, field) => {
    expect(configProblems(config(overrides)).map((problem) => problem.field)).toEqual([field]);
  });

  test.each<Partial<MiproConfig>>([
    { numCandidates: 2, numTrials: 1, maxBootstrappedDemos: 0, maxLabeledDemos: 0 },
    { numCandidates: miproLimits.numCandidates, numTrials: miproLimits.candidates - miproLimits.numCandidates - 1 },
    { maxBootstrappedDemos: miproLimits.demos, maxLabeledDemos: miproLimits.demos },
    { numTrials: null, maxRollouts: 15 },
    { minibatchSize: 10_000 },
    { numTrials: 175, minibatchSize: 40, evaluationSeeds: seeds(40) },
    { maxRollouts: 15 },
    { maxRollouts: 17, heldoutSeeds: [99] },
    { maxRollouts: 27, repeats: 2 },
    { rngSeed: -5, heldoutSeeds: [99, -1], repeats: 3, patience: 1, targetReward: -0.5 },
    { patience: null, targetReward: null },
  ])('accepts %j', (overrides) => {
    expect(configProblems(config(overrides))).toEqual([]);
  });
});

test('the minimum budget covers two evaluations, a trial and held-out rollouts; a smaller one is rejected', () => {
  expect(minimumRollouts(config())).toBe(6 + 3 + 6);
  expect(minimumRollouts(config({ minibatchSize: 99 }))).toBe(6 + 6 + 6);
  const given = config({ repeats: 2, heldoutSeeds: [98, 99] });
  expect(minimumRollouts(given)).toBe(12 + 3 + 12 + 2 * 2 * 2);
  expect(() => createMipro({ ...given, maxRollouts: 34 })).toThrow('maxRollouts must be an integer of at least 35');
  expect(() => createMipro({ ...given, maxRollouts: 35 })).not.toThrow();
});

test.each([
  [1, 1],
  [5, 5],
  [40, 5],
  [41, 6],
  [280, 35],
  [1_000, 35],
])('a search with %d evaluation seeds has minibatches of %d', (evaluationSeeds, expected) => {
  expect(defaultMinibatch(evaluationSeeds)).toBe(expected);
});

test('the default number of trials is that of DSPy', () => {
  const none = { maxBootstrappedDemos: 0, maxLabeledDemos: 0 };
  expect(defaultTrials(config({ numCandidates: 1 }), 1)).toBe(2);
  expect(defaultTrials(config({ numCandidates: 6 }), 1)).toBe(11);
  expect(defaultTrials(config({ numCandidates: 12 }), 3)).toBe(44);
  expect(defaultTrials(config({ numCandidates: 12, ...none }), 1)).toBe(18);
});

test.each<[string, object, number | null]>([
  ['with max_rollouts there is no default number of trials', { budget: { max_rollouts: 100 } }, null],
  ['without max_rollouts the default number of trials is that of DSPy', { budget: { max_minutes: 5 } }, 11],
])('%s', (_, more, expected) => {
  const mipro = { num_candidates: 6, evaluation: { seeds: [1, 2, 3] } };
  const policy = { provider: 'openai', model: 'any' };
  const request = { algorithm: 'mipro', container_url: 'http://localhost', policy, mipro, ...more };
  expect(toConfig(policyOptimizationSchema.parse(request)).numTrials).toBe(expected);
});

test('the default number of trials is valid', () => {
  for (const numCandidates of [2, 20, 50]) {
    for (const seeds of [5, 35, 140, 1_000]) {
      const evaluationSeeds = Array.from({ length: seeds }, (_, at) => at);
      const given = config({ numCandidates, evaluationSeeds, minibatchSize: defaultMinibatch(seeds) });
      for (const minibatchSize of [given.minibatchSize, 100]) {
        const numTrials = defaultTrials({ ...given, minibatchSize }, 20);
        expect(configProblems({ ...given, minibatchSize, numTrials })).toEqual([]);
      }
    }
  }
});

test('rejects a single instruction without demonstrations', () => {
  const none = { maxBootstrappedDemos: 0, maxLabeledDemos: 0 };
  expect(configProblems(config({ numCandidates: 1, ...none }))).toEqual([
    { field: 'numCandidates', message: expect.stringContaining('nothing to choose from') },
  ]);
  expect(configProblems(config({ numCandidates: 1 }))).toEqual([]);
});

test('live traffic needs budget for rollouts of the incumbent beside the winner', () => {
  expect(minimumRollouts(config(), true)).toBe(6 + 3 + 2 * 6);
  expect(configProblems(config({ maxRollouts: 20 }), true)).toMatchObject([{ field: 'maxRollouts' }]);
  const run = drive(
    unpaired(config({ maxRollouts: 21 })),
    scoring(() => 0.5),
  );
  expect(run.state.trials).toBeGreaterThan(0);
});

test('half of the instructions precede the first trial; all do in a single generation', () => {
  expect([1, 5, 6, 15].map((numTrials) => generationsOf({ numTrials, maxRollouts: null }))).toEqual([1, 1, 2, 3]);
  expect(initialInstructions(config({ numCandidates: 8, numTrials: 15 }))).toBe(4);
  expect(initialInstructions(config({ numCandidates: 8, numTrials: 5 }))).toBe(7);
  expect(initialInstructions(config({ numCandidates: 1 }))).toBe(0);
});
