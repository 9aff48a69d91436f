/**
 * The budget of rollouts. Invariants: rollouts are reserved before they are requested, so `asked`
 * never exceeds `maxRollouts`; until the end, the reserve (`endRollouts`) is left.
 */
import type { Stage } from './protocol.js';
import { evaluationRollouts, heldoutRollouts, minibatchOf, type SearchConfig } from './config.js';

export interface BudgetState {
  config: SearchConfig;
  asked: number;
}

/** Rollouts left in total; Infinity without a limit. */
export function remainingRollouts({ config, asked }: BudgetState): number {
  return (config.maxRollouts ?? Infinity) - asked;
}

/** Rollouts left beside the reserve for the end. */
export function searchRollouts(state: BudgetState): number {
  return remainingRollouts(state) - endRollouts(state);
}

/** The reserve: an evaluation of the most promising candidate, and the held-out comparison. */
export function endRollouts({ config }: BudgetState): number {
  return evaluationRollouts(config) + heldoutRollouts(config);
}

/** Rollouts of a stage that can be repeated without the reserve of later stages. */
export function repeatableRollouts(state: BudgetState, stage: Stage): number {
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

/** Whether 80 % of the budget is used, outstanding requests included. */
export function isBudgetLow({ config: { maxRollouts }, asked }: BudgetState): boolean {
  return maxRollouts !== null && asked >= 0.8 * maxRollouts;
}
