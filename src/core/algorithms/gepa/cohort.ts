/**
 * The proposals that are asked for at once: those of one generation in a sequential search, of
 * several generations where more slots are free. All are made from the same pool.
 */
import { searchRollouts } from '../../search/budget.js';
import { evaluationRollouts, minibatchOf } from '../../search/config.js';
import { areProposalsScarce } from './budget.js';
import type { GepaState } from './state.js';

/** First tests of such cohorts that the rollouts left must cover: a small budget has small ones. */
const cohortsAhead = 14;
/** Evaluations that the rollouts left must cover before slots are filled beside the search. */
const evaluationsAhead = 6;

/** Proposals of the generations that begin together with generation `first`. */
export function cohortSize(state: GepaState, first: number): number {
  const { config, quiet, generation } = state;
  const { slots, populationSize, generations, patience } = config;
  if (slots === 1) return populationSize;
  // Where proposals are scarce, each generation learns from the one before.
  if (areProposalsScarce(state)) return populationSize;
  const beforePatience = patience === null ? Infinity : patience - quiet - (first - generation);
  const atOnce = Math.min(slots / populationSize, generations - first + 1, beforePatience);
  const affordable = searchRollouts(state) / (cohortsAhead * minibatchOf(config));
  return Math.max(1, Math.floor(Math.min(populationSize * Math.max(1, Math.floor(atOnce)), affordable)));
}

/** Whether more than one proposal is asked for at once, as slots and budget allow. */
export function isWide(state: GepaState): boolean {
  return state.config.slots > 1 && cohortSize(state, state.begun + 1) > 1;
}

/** Whether the budget covers more than the search is likely to need. */
export function isBudgetAmple(state: GepaState): boolean {
  const { config } = state;
  if (config.slots === 1 || config.maxRollouts === null) return false;
  return searchRollouts(state) >= evaluationsAhead * evaluationRollouts(config);
}
