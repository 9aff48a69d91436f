/**
 * The state of a GEPA search: plain JSON, and all there is. It holds no clock, no cache and no hidden generator, so the
 * same state and answers give the same next state in every process.
 *
 * Size: bounded by the config's limits. The largest part is the front (one bit set for each candidate on it): 300 kB in all
 * with 1,000 evaluation seeds and 500 candidates, and below 500 kB with 10,000 train seeds of 17 characters each.
 */
import { emptyFront, type Front } from '../../front.js';
import { seedRng, type Rng } from '../../random.js';
import type { CandidateSummary, StoppedBy } from '../../work.js';
import { openBatch, type Batch } from '../../search/batch.js';
import { configProblems, type GepaConfig } from '../config.js';
import { noProposals, type ProposerRecord } from '../../search/proposer.js';
import { createSampler, type Sampler } from './sample.js';

/** One of a generation's proposals before its parent's minibatch is known. */
export interface Slot {
  parent: number;
  seeds: number[];
}

/** A slot whose parent left something to improve: `candidate` is the number of the child that is wanted or tried. */
export interface Trial extends Slot {
  candidate: number;
  parentSum: number;
  /** The parent's rollouts on this minibatch, which reflection is shown. */
  ordinals: number[];
}

/** Where the search stands. The stages of rollouts are named as in `Stage`. */
export type Phase =
  | { name: 'baseline'; batch: Batch }
  | { name: 'minibatch'; batch: Batch; slots: Slot[] }
  | { name: 'proposals'; trials: Trial[] }
  | { name: 'gate'; batch: Batch; trials: Trial[] }
  /** `evaluating` are the candidates of this batch, `waiting` the accepted ones that come after it. */
  | { name: 'evaluation'; batch: Batch; evaluating: number[]; waiting: number[] }
  | { name: 'done'; stoppedBy: StoppedBy }
  | { name: 'failed'; code: string; message: string };

export type PhaseOf<Name extends Phase['name']> = Extract<Phase, { name: Name }>;

/** The phases in which rollouts are outstanding. */
export type RolloutPhase = PhaseOf<'baseline' | 'minibatch' | 'gate' | 'evaluation'>;

export interface LockstepState {
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
  front: Front;
  /** null until the baseline is evaluated; ties go to the earlier candidate. */
  best: { candidate: number; reward: number } | null;
  /** The best reward at the end of each generation, from generation 0. */
  history: number[];
  parentRng: Rng;
  sampler: Sampler;
  proposer: ProposerRecord;
  budgetWarned: boolean;
}

/** A search about to evaluate the baseline; throws a RangeError that names every problem which HTTP should have refused. */
export function createLockstep(config: GepaConfig): LockstepState {
  const problems = configProblems(config);
  if (problems.length > 0) {
    throw new RangeError(problems.map(({ field, message }) => `${field} ${message}`).join('; '));
  }
  const batch = openBatch(
    config.evaluationSeeds.map((seed) => [0, seed]),
    0,
  );
  return {
    config,
    phase: { name: 'baseline', batch },
    generation: 0,
    asked: batch.pairs.length,
    answered: 0,
    nextCandidate: 1,
    candidates: [{ candidate: 0, parents: [], generation: 0, status: 'proposed', reward: null, rolloutCount: 0 }],
    front: emptyFront,
    best: null,
    history: [],
    parentRng: seedRng(config.rngSeed),
    sampler: createSampler(config.rngSeed),
    proposer: noProposals,
    budgetWarned: false,
  };
}
