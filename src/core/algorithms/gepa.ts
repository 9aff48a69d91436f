/**
 * GEPA (Agrawal et al., arXiv 2507.19457); `gepa/generation.ts` lists the differences.
 * Invariant: all proposals of a generation derive from the pool at the time of their request.
 */
import type { PolicyOptimization } from '../../kinds/session/contract/create.js';
import { camelCased } from '../../util/naming.js';
import type { ConfigProblem } from '../search/config.js';
import { afterHeldout, defineSearch } from '../search/lifecycle.js';
import type { SearchAlgorithm } from '../search/protocol.js';
import { commonConfig } from '../search/request.js';
import { addRewards } from '../search/round.js';
import type { SeedSplit } from '../search/split.js';
import * as config from './gepa/config.js';
import { afterBaseline, afterDemos, afterRound, resumeGenerations } from './gepa/generation.js';
import type { GepaState } from './gepa/state.js';
import { viewGepa } from './gepa/view.js';

export const gepa: SearchAlgorithm<GepaState> = defineSearch<GepaState>({
  keep: addRewards,
  after: { baseline: afterBaseline, round: afterRound, demos: afterDemos, heldout: afterHeldout },
  resume: resumeGenerations,
  view: viewGepa,
});

/** The composition that `gepa` names on the wire, as a request configures it. */
export function toConfig(request: PolicyOptimization, split: SeedSplit | null = null): config.GepaConfig {
  const { train_seeds, evaluation, ...fields } = request.gepa!;
  return {
    ...commonConfig(request, { train_seeds, evaluation }, split),
    ...camelCased(fields),
    goodAnswers: 0,
    trials: null,
    ...(request.rollouts === 'caller' && { demonstrations: 0 }),
    // Live traffic comes one request at a time.
    slots: request.rollouts === 'caller' ? 1 : request.max_concurrent,
  };
}

export function configProblems(given: config.GepaConfig): ConfigProblem<keyof config.GepaConfig>[] {
  const problems = config.configProblems(given);
  const candidates = 1 + given.populationSize * given.generations;
  const most = config.gepaLimits.candidates;
  if (problems.length > 0 || candidates <= most) return problems;
  const message = `times population_size makes ${candidates} candidates with the baseline; at most ${most} are allowed`;
  return [{ field: 'generations', message }];
}
