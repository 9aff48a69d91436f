/**
 * What the shared budget (`../budget.ts`) lets this search do. Invariant: a wave, and a look for failures, is asked for only
 * where enough is left after it to evaluate an accepted child and to run the held-out comparison.
 */
import { remainingRollouts, searchRollouts, type Budgeted } from '../../search/budget.js';
import type { GepaConfig } from '../gepa/config.js';
import { evaluationRollouts, heldoutRollouts } from '../../search/config.js';
import type { UnpairedState } from './state.js';
import { horizonOf, roundSize } from './test-rounds.js';

/** How many of the open children, each with `pairs` behind it, may have another wave. */
export function affordableChildren(state: Budgeted & { config: GepaConfig }, open: number, pairs: number): number {
  let children = open;
  while (children > 0 && (children + 1) * roundSize(state.config, children, pairs) > searchRollouts(state)) children--;
  return children;
}

/** What the first wave of a single child costs: without it no generation begins. */
export function minOfTest(config: GepaConfig): number {
  return 2 * roundSize(config, 1, 0);
}

/** The most rollouts that are likely to follow when no infrastructure fails, within the budget. */
export function rolloutsAhead(state: UnpairedState): number {
  const { config, phase, generation } = state;
  if (phase.name === 'done' || phase.name === 'failed' || phase.name === 'heldout') return 0;
  const generations = Math.max(0, config.generations - generation) + (phase.name === 'evaluation' ? 0 : 1);
  const test = (config.populationSize + 1) * horizonOf(config);
  const most = generations * (test + evaluationRollouts(config)) + heldoutRollouts(config);
  return Math.min(remainingRollouts(state), most);
}
