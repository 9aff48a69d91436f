/**
 * The state of a MIPRO search (Opsahl-Ong et al., arXiv 2406.11695; MIPROv2 of DSPy): plain JSON, and all there is. It holds
 * no clock, no cache and no hidden generator, so the same state and answers give the same next state in every process.
 *
 * Size: bounded by the rollouts asked for, about 20 characters each, and by the config's limits.
 */
import { seedRng, shuffle, type Rng } from '../../math/random.js';
import { openBatch, type Batch } from '../../search/batch.js';
import { evaluationPairs } from '../../search/evaluation.js';
import { noProposals, type ProposerRecord } from '../../proposals/proposer-failures.js';
import type { Results } from '../../search/results.js';
import type { CandidateSummary, Rewrite, StoppedBy } from '../../search/protocol.js';
import { configProblems, type MiproConfig } from './config.js';

/** A set of demonstrations, by the ordinals of the rollouts that they are taken from. */
export interface DemoSet {
  bootstrapped: number[];
  labeled: number[];
}

/**
 * An instruction that is to be written: the candidate that it makes, and whose it is a rewriting of. With several parents what
 * these changed of one candidate's texts is combined, and no model is asked.
 */
export interface Writing {
  candidate: number;
  parents: number[];
  /** Null: it combines its parents. */
  rewrite: Rewrite | null;
}

/** A combination that is to be put together. */
export interface NewCombination {
  candidate: number;
  parents: number[];
  choices: number[];
}

/** Where the search stands. The stages of rollouts are named as in `Stage`. */
export type Phase =
  | { name: 'baseline'; batch: Batch }
  /** The most promising candidate on train seeds, for what there is to learn from. */
  | { name: 'minibatch'; batch: Batch }
  | { name: 'demos'; ordinals: number[] }
  /** `offered`: failures of the parent, of which each writer is shown some. */
  | { name: 'instructions'; wanted: Writing[]; offered: { ordinal: number; seed: number }[] }
  /** `wanted` are put together; `trying` are all candidates of the generation's trials. */
  | { name: 'combinations'; wanted: NewCombination[]; trying: number[] }
  | { name: 'gate'; batch: Batch; trying: number[] }
  /** Of live traffic that names no instance the best so far runs beside the candidate. */
  | { name: 'evaluation'; batch: Batch; candidate: number }
  /** The baseline, then the winner, on seeds that the search has never seen. */
  | { name: 'heldout'; batch: Batch; stoppedBy: StoppedBy }
  | { name: 'done'; stoppedBy: StoppedBy }
  | { name: 'failed'; code: string; message: string };

export type PhaseOf<Name extends Phase['name']> = Extract<Phase, { name: Name }>;

/** The phases in which rollouts are outstanding. */
export type RolloutPhase = Extract<Phase, { batch: Batch }>;

export interface MiproState {
  algorithm: 'mipro';
  config: MiproConfig;
  /** Whether a seed names the same instance each time; not where live traffic names none. */
  traffic: 'paired' | 'unpaired';
  phase: Phase;
  /** The generation being worked on, or the last one: up to five trials each; 0 is the baseline's. */
  generation: number;
  /** How many rollouts were asked for, which is also the next ordinal and what the budget counts. */
  asked: number;
  answered: number;
  nextCandidate: number;
  /** In the order of their numbers; a number whose proposal failed or was a duplicate is missing. */
  candidates: CandidateSummary[];
  results: Results;
  /** The prompt's components; none before the survey. */
  components: string[];
  /** By component the candidates whose text of it is a choice; the first is the baseline. */
  instructions: number[][];
  /** By component how many instructions were asked for, those that came to nothing included. */
  requested: number[];
  /** Where demonstrations go: a component's calls, or (null) every call. */
  slots: (string | null)[];
  /** By slot its choices; the first is none. */
  demoSets: DemoSet[][];
  /** By slot the rollouts that can be shown. */
  usable: DemoSet[];
  /** Rollouts below this ordinal were asked about. */
  searchedForDemos: number;
  /** By candidate what it is made of: a choice for each component, then for each slot. */
  choices: Record<string, number[]>;
  /** How many trials there were, those that came to nothing included. */
  trials: number;
  /** By evaluated candidate how many rollouts had been asked for when its evaluation was over. */
  evaluatedAt: Record<string, number>;
  /** By seed: under which rollout it was shown last, and how often since. */
  timesShown: Record<string, [ordinal: number, times: number]>;
  /** Train seeds in the order in which they are looked at. */
  order: number[];
  /** Evaluation seeds in the order in which minibatches take them, over and over, and how many they have taken. */
  evaluationOrder: number[];
  evaluationOffset: number;
  /** The evaluated candidate with the greatest mean; null until the baseline is evaluated; ties go to the earlier one. */
  best: { candidate: number; reward: number } | null;
  /** The best reward at the end of each generation, from generation 0. */
  history: number[];
  /** Generations in a row without a new best, the one being worked on included. */
  quiet: number;
  rng: Rng;
  proposer: ProposerRecord;
  budgetWarned: boolean;
  /** Rewards on the held-out seeds, baseline and winner in turns; null: not measured (yet). */
  heldout: { baseline: number[]; winner: number[] } | null;
}

/** A search about to evaluate the baseline; throws a RangeError that names every problem which HTTP should have refused. */
export function createMipro(config: MiproConfig): MiproState {
  const problems = configProblems(config);
  if (problems.length > 0) {
    throw new RangeError(problems.map(({ field, message }) => `${field} ${message}`).join('; '));
  }
  const batch = openBatch(evaluationPairs(config, 0, config.evaluationSeeds), 0);
  const [evaluationOrder, afterDeck] = shuffle(seedRng(config.rngSeed, 3), [...new Set(config.evaluationSeeds)]);
  const [order, rng] = shuffle(afterDeck, [...new Set(config.trainSeeds)]);
  return {
    algorithm: 'mipro',
    config,
    traffic: 'paired',
    phase: { name: 'baseline', batch },
    generation: 0,
    asked: batch.pairs.length,
    answered: 0,
    nextCandidate: 1,
    candidates: [{ candidate: 0, parents: [], generation: 0, status: 'proposed', reward: null, rolloutCount: 0 }],
    results: {},
    components: [],
    instructions: [],
    requested: [],
    slots: [],
    demoSets: [],
    usable: [],
    searchedForDemos: 0,
    choices: {},
    evaluatedAt: {},
    trials: 0,
    timesShown: {},
    order,
    evaluationOrder,
    evaluationOffset: 0,
    best: null,
    history: [],
    quiet: 0,
    rng,
    proposer: noProposals,
    budgetWarned: false,
    heldout: null,
  };
}
