/**
 * The budget of rollouts. Invariants: everything is reserved before it is asked for, so `asked` never passes
 * `maxRollouts`, whatever the answers are; while the search goes on there is always enough left to evaluate the most
 * promising candidate and to run what is held out.
 */
import type { Stage } from './protocol.js';
import { evaluationRollouts, heldoutRollouts, minibatchOf, type SearchConfig } from './config.js';

/** What of a search's state its budget goes by. */
export interface Budgeted {
  config: SearchConfig;
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

/** What the end needs: an evaluation of the most promising candidate, and what is held out. */
export function endRollouts({ config }: Budgeted): number {
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
