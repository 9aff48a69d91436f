import { expect, test } from '@jest/globals';
import type { MiproConfig } from '../../../../src/core/algorithms/mipro/config.js';
import { mipro } from '../../../../src/core/algorithms/mipro.js';
import { largestOf } from '../gepa/largest.js';
import { config, drive, scoring, type MiproWorld } from './driver.js';

// Sizes at the limits of a session: the state that continues as new, and the input and result of
// each activity. Temporal refuses payloads above 2 MB.

const maxOfState = 1_500_000;
const maxOfMessage = 500_000;

/** Distinct seeds with the most digits. */
const longSeeds = (count: number, from = 0) => Array.from({ length: count }, (_, i) => -(2 ** 53 - 1) + i + from);

/** Rewards with many digits, growing with the candidate: each generation evaluates a candidate. */
const growing: MiproWorld['rollout'] = ({ candidate, seed }) => candidate / 1_000 + (Math.abs(seed) % 1_000) / 7_777;

const limits: Partial<MiproConfig> = {
  trainSeeds: longSeeds(10_000),
  evaluationSeeds: longSeeds(1_000, 20_000),
  rngSeed: -(2 ** 53 - 1),
  maxBootstrappedDemos: 32,
  maxLabeledDemos: 32,
  numCandidates: 50,
  // Many rollouts in few generations: candidates take little of the state.
  numTrials: 70,
  minibatchSize: 100,
};

test.each<[string, Partial<MiproConfig>]>([
  ['70 trials', { numTrials: 70 }],
  ['a budget', { numTrials: null, maxRollouts: 100_000, evaluationSeeds: longSeeds(500, 20_000) }],
])(
  'with %s and twenty components the state stays below 1.5 MB, messages in the history below 0.5 MB',
  (_, given) => {
    const components = Array.from({ length: 20 }, (_, index) => `c${index}`.padEnd(64, 'x'));
    const findDemos: MiproWorld['findDemos'] = ({ ordinals }) => ({
      components,
      slots: components.map((component) => {
        return { component, bootstrapped: ordinals, labeled: ordinals, sameAnswer: [ordinals] };
      }),
    });
    const { turns, state } = drive(config({ ...limits, ...given }), scoring(growing, findDemos));
    expect(state.trials).toBeGreaterThanOrEqual(70);
    const { state: largest, ...messages } = largestOf(mipro, [...turns.slice(0, 8), ...turns.slice(-12)]);
    expect(largest).toBeLessThan(maxOfState);
    expect(Object.entries(messages).filter(([, size]) => size >= maxOfMessage)).toEqual([]);
  },
  240_000,
);
