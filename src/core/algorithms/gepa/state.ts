/** The state of a GEPA search; about 20 characters for each requested rollout. */
import { seedRng, shuffle } from '../../math/random.js';
import type { Approach } from '../../proposals/approach.js';
import type { Composition } from '../../search/protocol.js';
import { beginSeededSearch, requireValid, type CommonPhase, type Round, type SeededState } from '../../search/state.js';
import { configProblems, type GepaConfig } from './config.js';

/** A child between its proposal and its verdict. */
export interface Trial {
  candidate: number;
  generation: number;
  /** One parent, or the parents that a merge combines. */
  parents: number[];
  /** Failures that the reflection may see: the seed, and the ordinal of the rollout. */
  offered: { ordinal: number; seed: number }[];
  /** Seeds on which the child must gain: failures that its question shows, unless planned. */
  shown: number[];
  /** Candidates whose contributions to the parent's text the child lacks. */
  removed: number[];
  /** Completed test rounds. */
  rounds: number;
  /** The child is its parent's graph without a step, or its prompt without sentences. */
  ablation?: number;
  /** How the model is asked; absent: as at first. */
  approach?: Approach;
  /** A person wrote the child. */
  given?: string;
  /** The child is its parent with these demonstrations. */
  compose?: Composition;
  /** They are the parent's in part, and tested as a text is. */
  exchanges?: true;
}

/** The removal of parts of the incumbent at the end, see `ablation.ts`. */
export interface Shortening {
  incumbent: number;
  /** The incumbent, or the last shorter form that lost nothing. */
  shortest: number;
  /** Which half of its parts was removed last, and the candidate without it. */
  half: number;
  asked: number;
}

/** Rollouts that can be demonstrations, and the sets of them that were tested. */
export interface Demonstrations {
  /** Number of the prompt's components. */
  components: number;
  /** Where the turns go: each component's calls, or (null) every call. */
  slots: (string | null)[];
  /** Whether the rows have known right answers; else they show good answers of the model. */
  isLabeled: boolean;
  /** In the order of coverage. */
  rows: number[];
  /** Rollouts by answer, of answers that several share. */
  sameAnswer: number[][];
  /** The number of rows with right answers that fit into a prompt. */
  room: number;
  /** Rollouts below this ordinal were searched. */
  searched: number;
  /** Whether the search has looked for rows that the baseline fails. */
  isExplored: boolean;
  /** By candidate: its set of rollouts. */
  sets: Readonly<Record<string, number[]>>;
}

/** The batches of a round are `gate`, `minibatch` and `evaluation`; absent ones are empty. */
export interface RoundPhase extends Round {
  name: 'round';
  /** The children in the batch `gate`, by ascending number. */
  tests: Trial[];
  /** The children that the round proposes. */
  children: Trial[];
  /** The candidate in the batch `evaluation`. */
  evaluation?: number;
  /** The batch `minibatch` is for a generation that has no proposals yet. */
  begins?: true;
}

/** `demos`: a request for rollouts that can be demonstrations. */
export type Phase = CommonPhase | RoundPhase | (Round & { name: 'demos' });

export interface GepaState extends SeededState {
  algorithm: 'gepa';
  config: GepaConfig;
  phase: Phase;
  /** Possible parents: the baseline and accepted candidates. */
  pool: number[];
  /** The last generation that has begun; `generation` is the first that is not complete. */
  begun: number;
  /** Accepted children that no merge combines yet, by ascending number. */
  unmerged: Trial[];
  /** The parent drawn for this generation; absent: the incumbent. */
  parent?: number | undefined;
  /** By candidate: how many of its steps were tried to remove, see `ablation.ts`. */
  ablated?: Readonly<Record<string, number>>;
  shortening?: Shortening;
  /** By candidate: how its proposer was asked, if not as at first, or that it has other turns. */
  approaches: Readonly<Record<string, Approach | 'exchange'>>;
  /** By parent: the candidate that was requested as its shorter form. */
  compressed: Readonly<Record<string, number>>;
  /** Absent: not asked for; `none`: no rollout can be shown. */
  demonstrations?: Demonstrations | 'none';
  /** Generations in a row without a new candidate, where none may be left or all are too long. */
  idle: number;
  /** Generations in a row of known texts alone. */
  repeated: number;
  /** Requested rollouts at the time of the last evaluation. */
  evaluatedAt: number;
  /** Rollouts requested in evaluations after the baseline's. */
  evaluationsAsked: number;
}

/** A child that is about to be proposed. */
export function newTrial(candidate: number, generation: number, parents: number[]): Trial {
  return { candidate, generation, parents, offered: [], shown: [], removed: [], rounds: 0 };
}

/** Whether a child is its parent without some of its turns or sentences. */
export function isShortened({ approach, compose, ablation }: Trial): boolean {
  return approach === 'compress' && (compose !== undefined || ablation !== undefined);
}

/** Whether a candidate is its parent with other demonstrations. */
export function isSet({ demonstrations }: GepaState, candidate: number): boolean {
  return typeof demonstrations === 'object' && demonstrations.sets[candidate] !== undefined;
}

export function createGepa(config: GepaConfig): GepaState {
  requireValid(configProblems(config));
  const [order, rng] = shuffle(seedRng(config.rngSeed, 1), [...new Set(config.trainSeeds)]);
  const begun = beginSeededSearch(config, order, rng);
  const counts = { idle: 0, repeated: 0, evaluatedAt: begun.asked, evaluationsAsked: 0 };
  return { algorithm: 'gepa', ...begun, pool: [0], begun: 0, unmerged: [], approaches: {}, compressed: {}, ...counts };
}
