/** The state of a MIPRO search; about 20 characters for each requested rollout. */
import { seedRng, shuffle } from '../../math/random.js';
import { beginSeededSearch, requireValid, type CommonPhase, type Round, type SeededState } from '../../search/state.js';
import { configProblems, type MiproConfig } from './config.js';

/** A set of demonstrations, by the ordinals of their rollouts. */
export interface DemoSet {
  bootstrapped: number[];
  labeled: number[];
}

/** The rollouts that can be shown; `sameAnswer`: those that share an answer. */
export interface UsableDemos extends DemoSet {
  sameAnswer: number[][];
}

export interface NewCombination {
  candidate: number;
  parents: number[];
  choices: number[];
}

/**
 * A candidate under test: first on `shown`, seeds on which the leader fails; `removed`: ancestors
 * whose text it lacks.
 */
export interface Trial {
  candidate: number;
  shown: number[];
  removed: number;
  rounds: number;
}

/** The tests of new instructions, of their merge, or of combinations, against the leader. */
export interface Tests {
  step: 'instructions' | 'merge' | 'combinations';
  parent: number;
  trials: Trial[];
}

/** The phase of the search; rounds of rollouts have the name of their `Stage`. */
export type Phase =
  | CommonPhase
  /** The most promising candidate on train seeds, to learn from. */
  | (Round & { name: 'minibatch' })
  | (Round & { name: 'demos' })
  | (Round & { name: 'instructions' })
  /** `trying`: all candidates of the generation's trials. */
  | (Round & { name: 'combinations'; wanted: NewCombination[]; trying: number[] })
  /** Paired, `trying` are the candidates whose test is open. */
  | (Round & { name: 'gate'; trying: number[]; tests?: Tests })
  /** Unpaired, the best runs beside the candidate. */
  | (Round & { name: 'evaluation'; candidate: number });

/** A generation has up to five trials; `quiet` includes the current generation. */
export interface MiproState extends SeededState {
  algorithm: 'mipro';
  config: MiproConfig;
  phase: Phase;
  /** `unpaired`: live traffic without known instances, so that seeds mean nothing. */
  traffic: 'paired' | 'unpaired';
  /** The prompt's components; empty before the first demo request. */
  components: string[];
  /** By component: the candidates whose texts are its choices; the first is the baseline. */
  instructions: number[][];
  /** By component: requested instructions, failed ones included. */
  requested: number[];
  /** Where demonstrations go: into a component's calls, or (null) into every call. */
  slots: (string | null)[];
  /** By slot: its choices; the first is empty. */
  demoSets: DemoSet[][];
  /** By slot. */
  usable: UsableDemos[];
  /** Demonstrations were searched among the rollouts below this ordinal. */
  searchedForDemos: number;
  /** By candidate: its choice for each component, then for each slot. */
  choices: Record<string, number[]>;
  /** Generations in a row without a new candidate, before the current one. */
  idle: number;
  /** Trials so far, dropped ones included. */
  trials: number;
  /** By evaluated candidate: the requested rollouts at the end of its evaluation. */
  evaluatedAt: Record<string, number>;
  /** By accepted candidate: the requested rollouts at the end of its test. */
  acceptedAt: Record<string, number>;
  /** Evaluation seeds in the order in which minibatches take them cyclically. */
  evaluationOrder: number[];
  /** Seeds that minibatches have taken from `evaluationOrder`. */
  evaluationOffset: number;
}

export function createMipro(config: MiproConfig): MiproState {
  requireValid(configProblems(config));
  const [evaluationOrder, afterOrder] = shuffle(seedRng(config.rngSeed, 3), [...new Set(config.evaluationSeeds)]);
  const [order, rng] = shuffle(afterOrder, [...new Set(config.trainSeeds)]);
  return {
    algorithm: 'mipro',
    ...beginSeededSearch(config, order, rng),
    traffic: 'paired',
    components: [],
    instructions: [],
    requested: [],
    slots: [],
    demoSets: [],
    usable: [],
    searchedForDemos: 0,
    choices: {},
    idle: 0,
    trials: 0,
    evaluatedAt: {},
    acceptedAt: {},
    evaluationOrder,
    evaluationOffset: 0,
  };
}
