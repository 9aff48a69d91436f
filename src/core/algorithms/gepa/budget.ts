/** The rollouts budget of a GEPA search, spread over its proposals. */
import { endRollouts, searchRollouts } from '../../search/budget.js';
import { evaluationRollouts, minibatchOf } from '../../search/config.js';
import { generationsAhead } from '../../search/view.js';
import { maxRegressionSeeds, type GepaConfig } from './config.js';
import type { GepaState } from './state.js';

/** The even share of each remaining proposal; Infinity without a limit. */
export function rolloutsPerProposal(state: GepaState): number {
  const { generations, populationSize } = state.config;
  return searchRollouts(state) / (populationSize * Math.max(1, generations - state.generation + 1));
}

/** Whether the rollouts left suffice for every proposal: each gets its share of all failures. */
export function areProposalsScarce(state: GepaState): boolean {
  return rolloutsPerProposal(state) > maxProposalRollouts(state.config);
}

/** Whether enough rollouts for all remaining proposals are left after an evaluation. */
export function canSpareEvaluation(state: GepaState): boolean {
  const { config, generation } = state;
  const proposals = (config.generations - generation) * config.populationSize;
  return searchRollouts(state) - evaluationRollouts(config) >= proposals * maxProposalRollouts(config);
}

/** The most rollouts that are likely to follow without infrastructure failures. */
export function rolloutsAhead(state: GepaState): number {
  const { config } = state;
  const proposals = generationsAhead(state, config.generations, isLastEvaluation(state)) * config.populationSize;
  return proposals * maxProposalRollouts(config) + endRollouts(state);
}

/** Whether nothing but an evaluation is in progress, which can be the last. */
function isLastEvaluation({ phase }: GepaState): boolean {
  return phase.name === 'round' && phase.evaluation !== undefined && phase.tests.length + phase.children.length === 0;
}

/** Minibatches of parent and child, and the regression test. */
function maxProposalRollouts(config: GepaConfig): number {
  return 2 * minibatchOf(config) + maxRegressionSeeds(config);
}
