import { expect, test } from '@jest/globals';
import type { GepaConfig } from '../../../../src/core/algorithms/gepa/config.js';
import { gepa } from '../../../../src/core/algorithms/gepa.js';
import { graphSearch } from '../../../../src/core/graphs/search-config.js';
import { config, drive, scoring, type World } from './driver.js';
import { datasetLimits } from '../../../../src/contracts/graphs/dataset.js';
import { largestOf } from './largest.js';

// Sizes at the limits of a session or a graph job: the snapshot, and what a step records.

const maxOfState = 1_500_000;
const maxOfRecord = 500_000;
/** Distinct seeds with the most digits. */
const longSeeds = (count: number, from = 0) => Array.from({ length: count }, (_, i) => -(2 ** 53 - 1) + i + from);

/** Rewards with many digits, growing with the candidate: every child is accepted. */
const growing: World['rollout'] = ({ candidate, seed }) => candidate / 1_000 + (Math.abs(seed) % 1_000) / 7_777;

/** Costs of graph runs with many digits. */
const costing = ({ ordinal }: { ordinal: number }) => Math.PI * (1 + ordinal);

const limits: Partial<GepaConfig> = {
  trainSeeds: longSeeds(10_000),
  evaluationSeeds: longSeeds(1_000, 20_000),
  rngSeed: -(2 ** 53 - 1),
};

/** A graph job with the most tasks and candidates, on the smallest budget for them. */
const graphJob = graphSearch({
  tasks: datasetLimits.tasks,
  rolloutBudget: 12_000,
  effort: 'high',
  rngSeed: -(2 ** 53 - 1),
});

test.each<[string, Partial<GepaConfig>]>([
  ['50 generations of 9, all accepted and combined', { populationSize: 9, generations: 50, minibatchSize: 100 }],
  ['499 generations of 1, all accepted', { populationSize: 1, generations: 499, minibatchSize: 3 }],
  ['a graph job with the most tasks and candidates', graphJob],
])(
  '%s: the state stays below 1.5 MB, what a step records below 0.5 MB',
  (_, shape) => {
    const { turns, state } = drive(config({ ...limits, ...shape }), {
      ...scoring(growing),
      ...(shape === graphJob && { cost: costing }),
    });
    expect(state.candidates.length).toBeGreaterThan(490);
    // The state grows, so its last turns are the largest; the first turns evaluate the baseline.
    const { state: largest, ...records } = largestOf(gepa, [...turns.slice(0, 3), ...turns.slice(-12)]);
    expect(largest).toBeLessThan(maxOfState);
    expect(Object.entries(records).filter(([, size]) => size >= maxOfRecord)).toEqual([]);
  },
  240_000,
);
