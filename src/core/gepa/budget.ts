/**
 * The budget of rollouts. Invariants: everything is reserved before it is asked for, so `asked` never passes
 * `maxRollouts`, whatever the answers are; while the search goes on there is always enough left to evaluate the most
 * promising candidate and to run what is held out.
 */
import { evaluationRollouts, guardsOf, heldoutRollouts, minibatchOf } from './config.js';
import type { GepaState } from './state.js';

/** Rollouts that may still be asked for; Infinity without a limit. */
export function remainingRollouts(state: GepaState): number {
  return (state.config.maxRollouts ?? Infinity) - state.asked;
}

/** Rollouts that the search itself may still ask for, beside what its end needs. */
export function searchRollouts(state: GepaState): number {
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
function endRollouts({ config }: GepaState): number {
  return evaluationRollouts(config) + heldoutRollouts(config);
}

/** How many rollouts of the present stage may be asked again without touching what is reserved for later stages. */
export function repeatableRollouts(state: GepaState): number {
  const { phase, config } = state;
  switch (phase.name) {
    case 'baseline':
      return Math.max(0, searchRollouts(state) - 2 * minibatchOf(config));
    case 'minibatch':
    case 'gate':
      return Math.max(0, searchRollouts(state));
    case 'evaluation':
      return Math.max(0, remainingRollouts(state) - heldoutRollouts(config));
    default:
      return Math.max(0, remainingRollouts(state));
  }
}

/** Whether 80 % of the budget is used, what is reserved by requests outstanding included. */
export function isBudgetLow({ config: { maxRollouts }, asked }: GepaState): boolean {
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
