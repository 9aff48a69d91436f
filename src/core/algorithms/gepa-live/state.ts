/**
 * The state of a search by live traffic, where rollouts are calls of which nobody knows the instance: plain JSON, and all
 * there is, as in `../state.ts`.
 *
 * Size: no reward is kept beyond its batch. Beside the config it holds one batch (the largest are an evaluation, or the
 * held-out comparison), a test and up to 60 ordinals for each open child, up to 200 failures, and a summary for each
 * candidate.
 */
import { seedRng, type Rng } from '../../math/random.js';
import type { SequentialTest } from '../../math/sequential-test.js';
import type { Sample } from '../../math/statistics.js';
import type { CandidateSummary, StoppedBy } from '../../search/protocol.js';
import type { Batch } from '../../search/batch.js';
import type { GepaConfig } from '../gepa/config.js';
import { noProposals, type ProposerRecord } from '../../proposals/proposer-failures.js';
import { createGepa } from '../gepa/state.js';
import type { Failure } from './failure-pool.js';

/** A child in its test against the incumbent. */
export interface Arm {
  candidate: number;
  test: SequentialTest;
  /** Of its rewards so far. */
  sum: number;
  /** The latest of its rollouts that failed: what to learn from if it wins. */
  failures: Failure[];
}

/** Where the search stands. The stages of rollouts are named as in `Stage`. */
export type Phase =
  | { name: 'baseline'; batch: Batch }
  /** Failures of the incumbent are looked for; `sought` counts the rollouts for that in this generation. */
  | { name: 'minibatch'; batch: Batch; sought: number }
  /** The numbers of the children wanted, and the rollouts that reflections may be shown. */
  | { name: 'proposals'; wanted: number[]; offered: number[] }
  /** A wave of the children that have no verdict yet and of the incumbent; `controlSum` is of its rewards in earlier ones. */
  | { name: 'gate'; batch: Batch; arms: Arm[]; controlSum: number }
  /** The accepted child; `failures` are those of its test. */
  | { name: 'evaluation'; batch: Batch; candidate: number; failures: Failure[] }
  | { name: 'heldout'; batch: Batch; stoppedBy: StoppedBy }
  | { name: 'done'; stoppedBy: StoppedBy }
  | { name: 'failed'; code: string; message: string };

export type PhaseOf<Name extends Phase['name']> = Extract<Phase, { name: Name }>;

/** The phases in which rollouts are outstanding. */
export type RolloutPhase = Extract<Phase, { batch: Batch }>;

/** A candidate with its evaluation, which was fresh when it was made. */
export interface Evaluated {
  candidate: number;
  sample: Sample;
}

export interface UnpairedState {
  algorithm: 'unpaired';
  config: GepaConfig;
  phase: Phase;
  /** The generation being worked on, or the last one; 0 is the baseline's. */
  generation: number;
  /** How many rollouts were asked for, which is also the next ordinal and what the budget counts. */
  asked: number;
  answered: number;
  nextCandidate: number;
  /** In the order of their numbers; a number whose proposal failed or was a duplicate is missing. */
  candidates: CandidateSummary[];
  /** Null until it is evaluated. */
  baseline: Sample | null;
  /** The best so far, whom the service serves: the last one accepted, else the baseline. */
  incumbent: Evaluated | null;
  /** The greatest mean of an evaluation: that of the incumbent where traffic does not drift. */
  bestReward: number | null;
  /** The incumbent's latest failures, by ascending ordinal. */
  failures: Failure[];
  /** `bestReward` at the end of each generation, from generation 0. */
  history: number[];
  /** Generations in a row without an accepted child. */
  quiet: number;
  rng: Rng;
  proposer: ProposerRecord;
  budgetWarned: boolean;
  /** What was measured in the end; null: not (yet). */
  heldout: { baseline: Sample; winner: Sample } | null;
}

/** A search about to evaluate the baseline, with the very requests of `createGepa`; refuses the configs that it refuses. */
export function createUnpaired(config: GepaConfig): UnpairedState {
  const { phase, asked, candidates } = createGepa(config);
  if (phase.name !== 'baseline') throw new Error(`a search begins with its baseline, not with ${phase.name}`);
  return {
    algorithm: 'unpaired',
    config,
    phase,
    generation: 0,
    asked,
    answered: 0,
    nextCandidate: 1,
    candidates,
    baseline: null,
    incumbent: null,
    bestReward: null,
    failures: [],
    history: [],
    quiet: 0,
    rng: seedRng(config.rngSeed, 2),
    proposer: noProposals,
    budgetWarned: false,
    heldout: null,
  };
}
