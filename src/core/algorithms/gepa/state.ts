/**
 * The state of a GEPA search: plain JSON, and all there is. It holds no clock, no cache and no hidden generator, so the
 * same state and answers give the same next state in every process.
 *
 * Size: bounded by the rollouts asked for, about 20 characters each, and by the config's limits.
 */
import { seedRng, shuffle, type Rng } from '../../math/random.js';
import type { CandidateSummary, StoppedBy } from '../../search/protocol.js';
import { openBatch, type Batch } from '../../search/batch.js';
import { evaluationPairs } from '../../search/evaluation.js';
import { configProblems, type GepaConfig } from './config.js';
import { noProposals, type ProposerRecord } from '../../proposals/proposer-failures.js';
import type { Costs } from '../../search/costs.js';
import type { Results } from '../../search/results.js';

/** A child on its way from a proposal to a verdict. */
export interface Trial {
  /** The number of the child that is wanted or tried. */
  candidate: number;
  /** One parent, or those that a merge is to combine. */
  parents: number[];
  /** The seeds whose failures the reflection may be shown, by the ordinal that has them. */
  offered: { ordinal: number; seed: number }[];
  /** The seeds on which the child must show its gain: those it was shown, or those that its parts were accepted for. */
  shown: number[];
  /** Candidates that had brought in what the child has lost of its parent's text. */
  removed: number[];
  /** How many batches it was tried in. */
  rounds: number;
}

/** Where the search stands. The stages of rollouts are named as in `Stage`. */
export type Phase =
  | { name: 'baseline'; batch: Batch }
  /** Parents on seeds of which too little is known. */
  | { name: 'minibatch'; batch: Batch }
  | { name: 'proposals'; trials: Trial[] }
  /** `trials` are all of the generation's so far, `open` those that have no verdict yet. */
  | { name: 'gate'; batch: Batch; trials: Trial[]; open: number[] }
  | { name: 'evaluation'; batch: Batch; candidate: number }
  /** The baseline, then the winner, on seeds that the search has never seen. */
  | { name: 'heldout'; batch: Batch; stoppedBy: StoppedBy }
  | { name: 'done'; stoppedBy: StoppedBy }
  | { name: 'failed'; code: string; message: string };

export type PhaseOf<Name extends Phase['name']> = Extract<Phase, { name: Name }>;

/** The phases in which rollouts are outstanding. */
export type RolloutPhase = Extract<Phase, { batch: Batch }>;

export interface GepaState {
  algorithm: 'gepa';
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
  results: Results;
  /** Absent: no rollout was said to cost anything. */
  costs?: Costs;
  /** The candidates that may be parents: the baseline and whoever was accepted. */
  pool: number[];
  /** By seed: under which rollout it was shown last, and how often since. */
  timesShown: Record<string, [ordinal: number, times: number]>;
  /** Train seeds in the order in which they are first run. */
  order: number[];
  /** The evaluated candidate with the greatest mean; null until the baseline is evaluated; ties go to the cheaper, then to the earlier one. */
  best: { candidate: number; reward: number } | null;
  /** How many rollouts were asked for when a candidate was last evaluated. */
  evaluatedAt: number;
  /** The best reward at the end of each generation, from generation 0. */
  history: number[];
  /** Generations in a row without an accepted child. */
  quiet: number;
  rng: Rng;
  proposer: ProposerRecord;
  budgetWarned: boolean;
  /** Rewards on the held-out seeds, baseline and winner in turns; null: not measured (yet). */
  heldout: { baseline: number[]; winner: number[] } | null;
}

/** A search about to evaluate the baseline; throws a RangeError that names every problem which HTTP should have refused. */
export function createGepa(config: GepaConfig): GepaState {
  const problems = configProblems(config);
  if (problems.length > 0) {
    throw new RangeError(problems.map(({ field, message }) => `${field} ${message}`).join('; '));
  }
  const batch = openBatch(evaluationPairs(config, 0, config.evaluationSeeds), 0);
  const [order, rng] = shuffle(seedRng(config.rngSeed, 1), [...new Set(config.trainSeeds)]);
  return {
    algorithm: 'gepa',
    config,
    phase: { name: 'baseline', batch },
    generation: 0,
    asked: batch.pairs.length,
    answered: 0,
    nextCandidate: 1,
    candidates: [{ candidate: 0, parents: [], generation: 0, status: 'proposed', reward: null, rolloutCount: 0 }],
    results: {},
    pool: [0],
    timesShown: {},
    order,
    best: null,
    evaluatedAt: batch.pairs.length,
    history: [],
    quiet: 0,
    rng,
    proposer: noProposals,
    budgetWarned: false,
    heldout: null,
  };
}
