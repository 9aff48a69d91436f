/**
 * The budget of rollouts. Invariants: everything is reserved before it is asked for, so `asked` never passes
 * `maxRollouts`, whatever the answers are; a generation begins only where at least one proposal can be carried through
 * to its full evaluation; what is asked again never takes what a later stage was promised.
 */
import { proposalRollouts } from '../config.js';
import { minibatchOf } from '../../search/config.js';
import type { LockstepState } from './state.js';

/** Rollouts that may still be asked for; Infinity without a limit. */
export function remainingRollouts(state: LockstepState): number {
  return (state.config.maxRollouts ?? Infinity) - state.asked;
}

/** How many proposals the next generation can have: as many gates as fit beside one full evaluation, or none. */
export function affordableSlots(state: LockstepState): number {
  const { config } = state;
  const forGates = remainingRollouts(state) - config.evaluationSeeds.length;
  return Math.max(0, Math.min(config.populationSize, Math.floor(forGates / (2 * minibatchOf(config)))));
}

/** How many full evaluations fit into what remains. */
export function affordableEvaluations(state: LockstepState): number {
  return Math.floor(remainingRollouts(state) / state.config.evaluationSeeds.length);
}

/** How many rollouts of the present stage may be asked again without touching what is reserved for later stages. */
export function repeatableRollouts(state: LockstepState): number {
  return Math.max(0, remainingRollouts(state) - reserved(state));
}

function reserved({ phase, config }: LockstepState): number {
  const evaluation = config.evaluationSeeds.length;
  switch (phase.name) {
    case 'baseline':
      return proposalRollouts(config);
    case 'minibatch':
      return phase.slots.length * minibatchOf(config) + evaluation;
    case 'gate':
      return evaluation;
    case 'evaluation':
      return phase.waiting.length * evaluation;
    case 'proposals':
    case 'done':
    case 'failed':
      return 0;
  }
}

/** Whether 80 % of the budget is used, what is reserved by requests outstanding included. */
export function isBudgetLow(state: LockstepState): boolean {
  const { maxRollouts } = state.config;
  return maxRollouts !== null && state.asked >= 0.8 * maxRollouts;
}

/** The most rollouts that can follow when no infrastructure fails, within the budget. */
export function rolloutsAhead(state: LockstepState): number {
  const { config, phase } = state;
  const evaluation = config.evaluationSeeds.length;
  const generationsLeft = config.generations - state.generation;
  const later = generationsLeft * config.populationSize * proposalRollouts(config);
  const withinBudget = (rollouts: number) => Math.min(rollouts, remainingRollouts(state));
  switch (phase.name) {
    case 'baseline':
      return withinBudget(later);
    case 'minibatch':
      return withinBudget(phase.slots.length * (minibatchOf(config) + evaluation) + later);
    case 'proposals':
      return withinBudget(phase.trials.length * (minibatchOf(config) + evaluation) + later);
    case 'gate':
      return withinBudget(phase.trials.length * evaluation + later);
    case 'evaluation':
      return withinBudget(phase.waiting.length * evaluation + later);
    case 'done':
    case 'failed':
      return 0;
  }
}
