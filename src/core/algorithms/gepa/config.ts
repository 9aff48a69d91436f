/** The config of a GEPA search, its limits and its number of rollouts. */
import {
  checkSearch,
  evaluationRollouts,
  heldoutRollouts,
  isCount,
  minibatchOf,
  searchLimits,
  type Check,
  type ConfigProblem,
  type SearchConfig,
} from '../../search/config.js';
import type { Section, SeedsSection } from '../../../kinds/session/contract/algorithms.js';
import type { CamelCased } from '../../../util/naming.js';
import type { MutationConfig } from '../../proposals/mutation.js';
import { fewDemos } from '../../prompts/demos.js';
import type { SearchEstimate } from '../estimate.js';

/** The section `gepa` of a request, where each field has its description. */
type GepaFields = CamelCased<Omit<Section<'gepa'>, keyof SeedsSection>>;

export interface GepaConfig extends SearchConfig, Omit<MutationConfig, keyof GepaFields>, GepaFields {
  /** The most turns with good answers of the model, where no right answer is known. */
  goodAnswers: number;
  /** The most candidates after the baseline; null: as many as the generations make. */
  trials: number | null;
  /** Questions have a description of the task and a tip. */
  isGuided?: true;
  /** Rollouts that run at once: the width of a round. With 1 the search is sequential. */
  slots: number;
}

/** The settings that a search keeps unless its creator chooses others. */
export const gepaDefaults = {
  heldoutSeeds: [],
  repeats: 1,
  patience: null,
  targetReward: null,
  merge: true,
  componentSelection: 'feedback',
  parentSelection: 'estimate',
  demonstrations: 0,
  goodAnswers: 0,
  trials: null,
  slots: 1,
} satisfies Partial<GepaConfig>;

export const gepaLimits = searchLimits;

/** Whether every candidate has demonstrations beside its texts, if only none. */
export function showsGoodAnswers({ goodAnswers }: Pick<GepaConfig, 'goodAnswers'>): boolean {
  return goodAnswers > 0;
}

/** Candidates that a search may make after those so far. */
export function roomForCandidates({ config, nextCandidate }: { config: GepaConfig; nextCandidate: number }): number {
  return Math.min(gepaLimits.candidates, 1 + (config.trials ?? Infinity)) - nextCandidate;
}

/** Repeated rollouts of the baseline in generation 1 that measure noise; repeats measure it too. */
export function noiseProbes({ repeats }: GepaConfig): number {
  return repeats === 1 ? 4 : 0;
}

/** The most seeds on which a child is tested for regressions. */
export function maxRegressionSeeds(config: GepaConfig): number {
  return Math.min(4, config.trainSeeds.length);
}

/** The least `maxRollouts`: two evaluations, one test of a child, the held-out comparison. */
export function minimumRollouts(config: GepaConfig): number {
  return 2 * evaluationRollouts(config) + 2 * minibatchOf(config) + heldoutRollouts(config);
}

function proposalsOf({ generations, populationSize, trials }: GepaConfig): number {
  return Math.min(generations * populationSize, trials ?? Infinity);
}

/** The most rollouts without infrastructure failures: every proposal is accepted. */
export function estimateRollouts(config: GepaConfig): number {
  const evaluations = evaluationRollouts(config) * (1 + config.generations) + heldoutRollouts(config);
  const proposals = proposalsOf(config) * 2 * (minibatchOf(config) + maxRegressionSeeds(config));
  const seeds = config.trainSeeds.length;
  const turns = Math.max(config.demonstrations, config.goodAnswers);
  const explored = Math.min(exploredPerDemo * turns, seeds);
  const confirmed = Math.min(confirmedPerDemo * Math.min(fewDemos, turns), proposalsOf(config) * seeds);
  const all = evaluations + proposals + noiseProbes(config) + explored + confirmed;
  return Math.min(all, config.maxRollouts ?? Infinity);
}

export function estimateSearch(config: GepaConfig): SearchEstimate {
  const { generations } = config;
  const proposals = proposalsOf(config);
  const rollouts = minibatchOf(config) * proposals;
  return {
    maxRollouts: estimateRollouts(config),
    generations,
    proposals,
    // Minibatches that test a proposal: at least the child's, mostly the parent's too.
    testRollouts: { low: rollouts, likely: 2 * rollouts, high: 2 * rollouts },
    shownRollouts: shownRollouts(config),
    demos: { labeled: config.demonstrations, good: config.goodAnswers },
  };
}

/** Failures that a question of many shows on open text, and right answers beside them. */
export const shownOfMany = { failures: 10, solved: 4 } as const;

/** A few failures, or those of a question of many. */
function shownRollouts(config: GepaConfig): SearchEstimate['shownRollouts'] {
  const few = minibatchOf(config);
  if (config.editsStructure === true) return { low: few, likely: few, high: few };
  const many = Math.max(few, shownOfMany.failures) + shownOfMany.solved;
  return { low: few, likely: Math.ceil((few + many) / 2), high: many };
}

/** Rollouts for each demonstration that find rows which the baseline fails. */
export const exploredPerDemo = 4;
/** Rollouts for each demonstration that compare sets which gained. */
export const confirmedPerDemo = 4;

export function configProblems(config: GepaConfig): ConfigProblem<keyof GepaConfig>[] {
  const problems: ConfigProblem<keyof GepaConfig>[] = [];
  const check: Check<keyof GepaConfig> = (holds, field, message) => {
    if (!holds) problems.push({ field, message });
  };
  const { populationSize, generations, maxRollouts, slots } = config;
  check(isCount(populationSize), 'populationSize', 'must be an integer of at least 1');
  check(isCount(generations), 'generations', 'must be an integer of at least 1');
  check(isCount(slots), 'slots', 'must be an integer of at least 1');
  checkSearch(config, check);
  if (problems.length > 0) return problems;
  const rollouts = populationSize * minibatchOf(config);
  check(
    rollouts <= gepaLimits.minibatchRollouts,
    'minibatchSize',
    `times the ${populationSize} proposals of a generation makes ${rollouts} rollouts; at most ${gepaLimits.minibatchRollouts} are allowed`,
  );
  const least = minimumRollouts(config);
  check(
    maxRollouts === null || (Number.isSafeInteger(maxRollouts) && maxRollouts >= least),
    'maxRollouts',
    `must be an integer of at least ${least}: the baseline's evaluation and one proposal need that many rollouts`,
  );
  return problems;
}
