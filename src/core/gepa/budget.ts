/**
 * The budget of rollouts. Invariants: everything is reserved before it is asked for, so `asked` never passes
 * `maxRollouts`, whatever the answers are; while the search goes on there is always enough left to evaluate the most
 * promising candidate and to run what is held out.
 */
import type { Stage } from '../work.js';
import { evaluationRollouts, guardsOf, heldoutRollouts, minibatchOf, type GepaConfig } from './config.js';
import type { GepaState } from './state.js';

/** What of a search's state its budget goes by. */
export interface Budgeted {
  config: GepaConfig;
  asked: number;
}

/** Rollouts that may still be asked for; Infinity without a limit. */
export function remainingRollouts({ config, asked }: Budgeted): number {
  return (config.maxRollouts ?? Infinity) - asked;
}

/** Rollouts that the search itself may still ask for, beside what its end needs. */
export function searchRollouts(state: Budgeted): number {
  return remainingRollouts(state) - endRollouts(state);
}

/** What each of the proposals that are left may cost when the budget is spread over them evenly; Infinity without a limit. */
export function rolloutsPerProposal(state: GepaState): number {
  const { generations, populationSize } = state.config;
  return searchRollouts(state) / (populationSize * Math.max(1, generations - state.generation + 1));
}

/** Whether an evaluation leaves all the proposals to come what they can use. */
export function canSpareEvaluation(state: GepaState): boolean {
  const { config, generation } = state;
  const ahead = (config.generations - generation) * config.populationSize;
  const proposal = 2 * minibatchOf(config) + guardsOf(config);
  return searchRollouts(state) - evaluationRollouts(config) >= ahead * proposal;
}

/** What the end needs: an evaluation of the most promising candidate, and what is held out. */
function endRollouts({ config }: Budgeted): number {
  return evaluationRollouts(config) + heldoutRollouts(config);
}

/** How many rollouts of a stage may be asked again without touching what is reserved for later stages. */
export function repeatableRollouts(state: Budgeted, stage: Stage): number {
  const { config } = state;
  switch (stage) {
    case 'baseline':
      return Math.max(0, searchRollouts(state) - 2 * minibatchOf(config));
    case 'minibatch':
    case 'gate':
      return Math.max(0, searchRollouts(state));
    case 'evaluation':
      return Math.max(0, remainingRollouts(state) - heldoutRollouts(config));
    case 'heldout':
      return Math.max(0, remainingRollouts(state));
  }
}

/** Whether 80 % of the budget is used, what is reserved by requests outstanding included. */
export function isBudgetLow({ config: { maxRollouts }, asked }: Budgeted): boolean {
  return maxRollouts !== null && asked >= 0.8 * maxRollouts;
}

/** The most rollouts that are likely to follow when no infrastructure fails, within the budget. */
export function rolloutsAhead(state: GepaState): number {
  const { config, phase, generation } = state;
  if (phase.name === 'done' || phase.name === 'failed') return 0;
  if (phase.name === 'heldout') return 0;
  const proposal = 2 * minibatchOf(config) + guardsOf(config);
  const generations = Math.max(0, config.generations - generation) + (phase.name === 'evaluation' ? 0 : 1);
  return Math.min(remainingRollouts(state), generations * config.populationSize * proposal + endRollouts(state));
}
