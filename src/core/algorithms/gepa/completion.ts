/** The end of generations, in their order, and the end of the search. */
import { minibatchOf } from '../../search/config.js';
import { searchRollouts } from '../../search/budget.js';
import { canImprove } from '../../search/failure-pool.js';
import { recordGeneration } from '../../search/lifecycle.js';
import type { Decision, StoppedBy } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { ablationReserve } from './ablation.js';
import { roomForCandidates } from './config.js';
import { hasAccepted } from './pool.js';
import type { GepaState, Trial } from './state.js';
import { isExhausted } from './explicit-rules.js';

/** Completes the generations before the last one in which every child has its verdict. */
export function completeEarlier(before: GepaState, undecided: readonly Trial[], decisions: Decision[]): GepaState {
  const firstOpen = Math.min(before.begun, ...undecided.map(({ generation }) => generation));
  let state = before;
  while (state.generation < firstOpen) {
    state = { ...recorded(state, decisions), generation: state.generation + 1 };
  }
  return state;
}

export function recorded(state: GepaState, decisions: Decision[]): GepaState {
  return recordGeneration(state, state.best!, hasAccepted(state) ? 0 : state.quiet + 1, decisions);
}

/** Why no further generation follows, or null. */
export function whyStop(state: GepaState, model: RewardModel, incumbent: number): StoppedBy | null {
  const isFull = roomForCandidates(state) <= 0;
  if (state.begun >= state.config.generations || isFull || isExhausted(state)) return 'generations';
  const left = searchRollouts(state) - ablationReserve(state, model);
  if (left < 2 * minibatchOf(state.config)) return 'max_rollouts';
  return canImprove(state, model, incumbent) ? null : 'train_solved';
}
