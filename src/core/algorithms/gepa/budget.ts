/** How the budget of rollouts (see `../search/budget.ts`) is spread over what a GEPA search may still do. */
import { endRollouts, remainingRollouts, searchRollouts } from '../../search/budget.js';
import { evaluationRollouts, minibatchOf } from '../../search/config.js';
import { maxRegressionSeeds } from './config.js';
import type { GepaState } from './state.js';

/** What each of the proposals that are left may cost when the budget is spread over them evenly; Infinity without a limit. */
export function rolloutsPerProposal(state: GepaState): number {
  const { generations, populationSize } = state.config;
  return searchRollouts(state) / (populationSize * Math.max(1, generations - state.generation + 1));
}

/** Whether an evaluation leaves all the proposals to come what they can use. */
export function canSpareEvaluation(state: GepaState): boolean {
  const { config, generation } = state;
  const ahead = (config.generations - generation) * config.populationSize;
  const proposal = 2 * minibatchOf(config) + maxRegressionSeeds(config);
  return searchRollouts(state) - evaluationRollouts(config) >= ahead * proposal;
}

/** The most rollouts that are likely to follow when no infrastructure fails, within the budget. */
export function rolloutsAhead(state: GepaState): number {
  const { config, phase, generation } = state;
  if (phase.name === 'done' || phase.name === 'failed') return 0;
  if (phase.name === 'heldout') return 0;
  const proposal = 2 * minibatchOf(config) + maxRegressionSeeds(config);
  const generations = Math.max(0, config.generations - generation) + (phase.name === 'evaluation' ? 0 : 1);
  return Math.min(remainingRollouts(state), generations * config.populationSize * proposal + endRollouts(state));
}
