/**
 * The state that all searches have in common: plain JSON without clock, cache or hidden generator,
 * so the same state and responses give the same next state in every process.
 */
import type { Rng } from '../math/random.js';
import { noProposals, type ProposerRecord } from '../proposals/proposer-failures.js';
import { openBatch, type Batch } from './batch.js';
import { evaluationPairs, type ConfigProblem, type SearchConfig } from './config.js';
import type { Costs } from './costs.js';
import type { CandidateSummary, DemoRequest, ProposalAnswer, ProposalRequest, Stage, StoppedBy } from './protocol.js';
import type { Results } from './results.js';

/** Rollouts and proposals that run side by side, or the search for demonstrations. */
export interface Round {
  batches: Partial<Record<Stage, Batch>>;
  proposals: ProposalRequest[];
  demos?: DemoRequest;
  /** The answers to the proposals, while rollouts are repeated. */
  answers?: ProposalAnswer[];
  /** By tested candidate: its generation; absent: the search's. */
  generations?: Readonly<Record<string, number>>;
}

export type EndPhase = { name: 'done'; stoppedBy: StoppedBy } | { name: 'failed'; code: string; message: string };

export type CommonPhase =
  | (Round & { name: 'baseline' })
  /**
   * Baseline and winner on seeds that the search has never seen; `isExtended`: the search goes on
   * afterwards, as its limits were raised.
   */
  | (Round & { name: 'heldout'; stoppedBy: StoppedBy; isExtended?: true })
  | EndPhase;

export type PhaseOf<State extends SearchState, Name extends State['phase']['name']> = Extract<
  State['phase'],
  { name: Name }
>;

export type RoundOf<State extends SearchState> = Extract<State['phase'], Round>;

export interface SearchState {
  config: SearchConfig;
  /** `CommonPhase`, or a round of the algorithm. */
  phase: (Round & { name: string }) | EndPhase;
  /** The current generation, or the last one; 0 is the baseline's. */
  generation: number;
  /** Requested rollouts: the next ordinal, and the count that the budget limits. */
  asked: number;
  answered: number;
  nextCandidate: number;
  /** By ascending number; the number of a failed or duplicate proposal is missing. */
  candidates: CandidateSummary[];
  /** Absent until a rollout reports a cost. */
  costs?: Costs;
  /** Best reward at the end of each generation, from generation 0. */
  history: number[];
  /** Generations in a row without progress. */
  quiet: number;
  /** Generations on record when limits were last raised; absent: never. */
  extendedAt?: number;
  rng: Rng;
  proposer: ProposerRecord;
  /** Prompts of people that wait for their test; absent: none. */
  given?: string[];
  budgetWarned: boolean;
}

/** A search whose seeds name the same instance each time, so that rewards compare seed by seed. */
export interface SeededState extends SearchState {
  results: Results;
  /** How often proposals were shown a rollout, see `failure-pool.ts`. */
  timesShown: Record<string, number>;
  /** Train seeds in the order of their first rollouts. */
  order: number[];
  /** The best evaluated candidate; null until the baseline is evaluated. */
  best: RatedCandidate | null;
  /** The last held-out comparison; null until measured. */
  heldout: HeldoutResults | null;
}

/** Mean rewards on each of the held-out seeds; `candidate`: the winner. */
export interface HeldoutResults {
  candidate: number;
  seeds: number[];
  baseline: number[];
  winner: number[];
}

export interface RatedCandidate {
  candidate: number;
  reward: number;
}

/** Throws a RangeError that names every problem of a config; HTTP refuses such configs first. */
export function requireValid(problems: readonly ConfigProblem<string>[]): void {
  if (problems.length === 0) return;
  throw new RangeError(problems.map(({ field, message }) => `${field} ${message}`).join('; '));
}

/** The common fields of a search that is about to evaluate the baseline. */
export function beginSearch<Config extends SearchConfig>(config: Config, rng: Rng) {
  const baseline: CandidateSummary = {
    candidate: 0,
    parents: [],
    generation: 0,
    status: 'proposed',
    reward: null,
  };
  const baselineBatch = openBatch(evaluationPairs(config, 0, config.evaluationSeeds), 0);
  return {
    config,
    phase: { name: 'baseline' as const, batches: { baseline: baselineBatch }, proposals: [] },
    generation: 0,
    asked: baselineBatch.pairs.length,
    answered: 0,
    nextCandidate: 1,
    candidates: [baseline],
    history: [] as number[],
    quiet: 0,
    rng,
    proposer: noProposals,
    budgetWarned: false,
  };
}

/** The common fields of a search by seeds; `order` are the train seeds in random order. */
export function beginSeededSearch<Config extends SearchConfig>(config: Config, order: number[], rng: Rng) {
  return { ...beginSearch(config, rng), results: {}, timesShown: {}, order, best: null, heldout: null };
}
