/** The config of a hill-climbing search, its limits and its number of rollouts. */
import type { MutationConfig } from '../../proposals/mutation.js';
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
import type { SearchEstimate } from '../estimate.js';

export interface HillClimbingConfig extends SearchConfig, MutationConfig {
  /** Rewrites of the best candidate in a generation; each is evaluated in full. */
  neighbors: number;
  generations: number;
}

export function estimateSearch(config: HillClimbingConfig): SearchEstimate {
  const { neighbors, generations, maxRollouts } = config;
  const proposals = neighbors * generations;
  const rollouts = evaluationRollouts(config) * proposals;
  const all = evaluationRollouts(config) + rollouts + heldoutRollouts(config);
  return {
    maxRollouts: Math.min(all, maxRollouts ?? Infinity),
    generations,
    proposals,
    testRollouts: { low: rollouts, likely: rollouts, high: rollouts },
    shownRollouts: minibatchOf(config),
    maxDemos: 0,
  };
}

export function configProblems(
  config: HillClimbingConfig,
  isLive: boolean,
): ConfigProblem<keyof HillClimbingConfig | 'algorithm'>[] {
  const problems: ConfigProblem<keyof HillClimbingConfig | 'algorithm'>[] = [];
  const check: Check<keyof HillClimbingConfig | 'algorithm'> = (holds, field, message) => {
    if (!holds) problems.push({ field, message });
  };
  const { neighbors, generations, maxRollouts } = config;
  check(!isLive, 'algorithm', 'does not search by live traffic');
  check(isCount(neighbors), 'neighbors', 'must be an integer of at least 1');
  check(isCount(generations), 'generations', 'must be an integer of at least 1');
  checkSearch(config, check);
  const candidates = 1 + neighbors * generations;
  const { candidates: maxCandidates } = searchLimits;
  check(
    candidates <= maxCandidates,
    'generations',
    `makes ${candidates} candidates; at most ${maxCandidates} are allowed`,
  );
  const least = 2 * evaluationRollouts(config) + heldoutRollouts(config);
  check(maxRollouts === null || maxRollouts >= least, 'maxRollouts', `must be at least ${least}`);
  return problems;
}
