/**
 * The rollouts budget over live traffic.
 * Invariant: a test round, and a search for failures, is requested only if enough is left for the
 * evaluation of an accepted child and for the held-out comparison.
 */
import { searchRollouts, type BudgetState } from '../../search/budget.js';
import { evaluationRollouts, heldoutRollouts } from '../../search/config.js';
import { generationsAhead } from '../../search/view.js';
import type { GepaConfig } from '../gepa/config.js';
import type { UnpairedState } from './state.js';
import { maxTestPairs, roundSize } from './test-rounds.js';

/** How many of the open children, each with `pairs` tested pairs, can have another round. */
export function affordableChildren(state: BudgetState & { config: GepaConfig }, open: number, pairs: number): number {
  let children = open;
  while (children > 0 && (children + 1) * roundSize(state.config, children, pairs) > searchRollouts(state)) children--;
  return children;
}

/** The first test round of a single child: the minimum for a generation. */
export function minTestRollouts(config: GepaConfig): number {
  return 2 * roundSize(config, 1, 0);
}

/** The most rollouts that are likely to follow without infrastructure failures. */
export function rolloutsAhead(state: UnpairedState): number {
  const { config } = state;
  const test = (config.populationSize + 1) * maxTestPairs(config);
  const generations = generationsAhead(state, config.generations);
  return generations * (test + evaluationRollouts(config)) + heldoutRollouts(config);
}
