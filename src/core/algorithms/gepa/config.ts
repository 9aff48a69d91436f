/**
 * What a GEPA search is told, and what it will cost. One "proposal" costs the parent's minibatch, the child's minibatch
 * (the gate) and, where the child is accepted, its full evaluation.
 */
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

export interface GepaConfig extends SearchConfig {
  /** Proposals a generation, all from the pool as it stood when the generation began. */
  populationSize: number;
  generations: number;
  /** Whether accepted proposals of a generation are combined. */
  merge: boolean;
}

/** Upper limits of a GEPA search: 1 + populationSize * generations candidates, populationSize * minibatchSize rollouts at once. */
export const gepaLimits = {
  ...searchLimits,
} as const;

/** The most seeds on which a child is tried for what its parent already solves. */
export function maxRegressionSeeds(config: GepaConfig): number {
  return Math.min(4, config.trainSeeds.length);
}

/** The least `maxRollouts` that makes sense: the baseline's evaluation, one proposal in full and what is held out. */
export function minimumRollouts(config: GepaConfig): number {
  return 2 * evaluationRollouts(config) + 2 * minibatchOf(config) + heldoutRollouts(config);
}

/** The most rollouts a search asks for when no infrastructure fails: every proposal is accepted, or the budget is spent. */
export function estimateRollouts(config: GepaConfig): number {
  const evaluations = evaluationRollouts(config) * (1 + config.generations) + heldoutRollouts(config);
  const proposals = config.generations * config.populationSize * 2 * (minibatchOf(config) + maxRegressionSeeds(config));
  const all = evaluations + proposals;
  return Math.min(all, config.maxRollouts ?? Infinity);
}

/** Everything that makes a config unusable; empty when it is fine. */
export function configProblems(config: GepaConfig): ConfigProblem<keyof GepaConfig>[] {
  const problems: ConfigProblem<keyof GepaConfig>[] = [];
  const check: Check<keyof GepaConfig> = (holds, field, message) => {
    if (!holds) problems.push({ field, message });
  };
  const { populationSize, generations, maxRollouts } = config;
  check(isCount(populationSize), 'populationSize', 'must be an integer of at least 1');
  check(isCount(generations), 'generations', 'must be an integer of at least 1');
  checkSearch(config, check);
  if (problems.length > 0) return problems;
  const candidates = 1 + populationSize * generations;
  check(
    candidates <= gepaLimits.candidates,
    'generations',
    `times population_size makes ${candidates} candidates with the baseline; at most ${gepaLimits.candidates} are allowed`,
  );
  const rollouts = populationSize * minibatchOf(config);
  check(
    rollouts <= gepaLimits.minibatchRollouts,
    'minibatchSize',
    `times population_size makes ${rollouts} rollouts; at most ${gepaLimits.minibatchRollouts} are allowed`,
  );
  const least = minimumRollouts(config);
  check(
    maxRollouts === null || (Number.isSafeInteger(maxRollouts) && maxRollouts >= least),
    'maxRollouts',
    `must be an integer of at least ${least}: the baseline's evaluation and one proposal need that many rollouts`,
  );
  return problems;
}
