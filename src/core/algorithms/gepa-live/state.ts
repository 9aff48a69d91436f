/**
 * The state of a GEPA search over live traffic: each rollout is a call without a known instance. No
 * reward outlives its batch. Size: one batch, up to 60 ordinals for each child in its test, 200
 * failures and a summary of each candidate.
 */
import { seedRng } from '../../math/random.js';
import type { SequentialTest } from '../../math/sequential-test.js';
import type { Sample } from '../../math/statistics.js';
import { beginSearch, requireValid, type CommonPhase, type Round, type SearchState } from '../../search/state.js';
import { configProblems, type GepaConfig } from '../gepa/config.js';
import type { Failure } from './failure-pool.js';

/** A child in its test against the incumbent. */
export interface Arm {
  candidate: number;
  test: SequentialTest;
  /** The sum of its rewards. */
  sum: number;
  /** Its latest failures: the failure pool if it wins. */
  failures: Failure[];
}

/** The phase of the search; rounds of rollouts have the name of their `Stage`. */
export type Phase =
  | CommonPhase
  /** The incumbent, to find failures; `sought` counts these rollouts of the generation. */
  | (Round & { name: 'minibatch'; sought: number })
  | (Round & { name: 'proposals' })
  /** A test round; `controlSum`: the sum of the incumbent's earlier rewards. */
  | (Round & { name: 'gate'; arms: Arm[]; controlSum: number })
  /** The accepted child, and the failures of its test. */
  | (Round & { name: 'evaluation'; candidate: number; failures: Failure[] });

export interface CandidateSample {
  candidate: number;
  sample: Sample;
}

export interface UnpairedState extends SearchState {
  algorithm: 'unpaired';
  config: GepaConfig;
  phase: Phase;
  /** Null until evaluated. */
  baseline: Sample | null;
  /** The last accepted candidate, else the baseline; the service serves it. */
  incumbent: CandidateSample | null;
  /** The greatest mean of an evaluation; without drift the incumbent's. */
  bestReward: number | null;
  /** The incumbent's latest failures, by ascending ordinal. */
  failures: Failure[];
  /** The held-out samples; null until measured. */
  heldout: { baseline: Sample; winner: Sample } | null;
}

/** A search that is about to evaluate the baseline, with the same requests as `createGepa`. */
export function createUnpaired(config: GepaConfig): UnpairedState {
  requireValid(configProblems(config));
  return {
    algorithm: 'unpaired',
    ...beginSearch(config, seedRng(config.rngSeed, 2)),
    baseline: null,
    incumbent: null,
    bestReward: null,
    failures: [],
    heldout: null,
  };
}
