import { expect, test } from '@jest/globals';
import type { GepaConfig } from '../../../../src/core/algorithms/gepa/config.js';
import { config, scoring, type World } from '../gepa/driver.js';
import { serve } from './traffic.js';

// The size of the state at the limits, as in `../gepa/size.long.test.ts`.

const maxOfState = 1_500_000;
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const longSeeds = (count: number, from = 0) => Array.from({ length: count }, (_, at) => -(2 ** 53 - 1) + at + from);

/** Rewards with many digits, all below 1: later children far better, or all equal. */
const better: World['rollout'] = ({ candidate, ordinal }) => (candidate + (ordinal % 1_000) / 7_777) / 501;
const equal: World['rollout'] = ({ ordinal }) => (ordinal % 1_000) / 7_777;

const limits: Partial<GepaConfig> = {
  trainSeeds: longSeeds(10_000),
  evaluationSeeds: longSeeds(1_000, 20_000),
  heldoutSeeds: longSeeds(1_000, 40_000),
  rngSeed: -(2 ** 53 - 1),
};

test.each<[string, Partial<GepaConfig>, World['rollout']]>([
  ['499 equal children at once', { populationSize: 499, generations: 1, minibatchSize: 2 }, equal],
  ['499 generations of 1, all accepted', { populationSize: 1, generations: 499, minibatchSize: 3 }, better],
  ['evaluations of 10,000', { populationSize: 2, generations: 1, minibatchSize: 3, repeats: 10 }, better],
])(
  '%s: the state stays below 1.5 MB',
  (_, shape, rollout) => {
    const { turns, state } = serve(config({ ...limits, ...shape }), scoring(rollout));
    expect(state.phase.name).toBe('done');
    const checked = [...turns.slice(0, 4), ...turns.slice(-12)];
    for (const { before } of checked) expect(bytes(before)).toBeLessThan(maxOfState);
  },
  240_000,
);
