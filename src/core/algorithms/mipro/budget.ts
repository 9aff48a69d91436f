/** How the budget of rollouts (see `../search/budget.ts`) is spread over what a MIPRO search may still do. */
import { endRollouts, remainingRollouts, searchRollouts } from '../../search/budget.js';
import { evaluationRollouts } from '../../search/config.js';
import { bootstrapSeeds, generationsOf, probes, trialSize, trialsAtOnce } from './config.js';
import type { MiproState } from './state.js';

/** Rollouts that the search may still ask for, beside what its end needs. */
export function spareRollouts(state: MiproState): number {
  return Math.max(0, searchRollouts(state) - rolloutsOfEvaluation(state) + evaluationRollouts(state.config));
}

/** How many trials the next generation may have. */
export function affordableTrials(state: MiproState): number {
  const left = state.config.numTrials - state.trials;
  return Math.min(trialsAtOnce, left, Math.floor(spareRollouts(state) / trialSize(state.config)));
}

/** How many generations may follow, this one included, as far as the budget goes. */
export function generationsLeft(state: MiproState): number {
  const { config, generation } = state;
  const affordable = Math.floor(spareRollouts(state) / (trialsAtOnce * trialSize(config)));
  return Math.max(1, Math.min(generationsOf(config) - generation + 1, affordable));
}

/** Whether an evaluation leaves the trials to come what they need. */
export function canSpare(state: MiproState, rollouts: number): boolean {
  const left = (state.config.numTrials - state.trials) * trialSize(state.config);
  return spareRollouts(state) - rollouts >= left;
}

/** Rollouts of one evaluation: of live traffic that names no instance, with the best so far beside the candidate. */
export function rolloutsOfEvaluation({ config, traffic }: MiproState): number {
  return evaluationRollouts(config) * (traffic === 'unpaired' ? 2 : 1);
}

/** The most rollouts that are likely to follow when no infrastructure fails, within the budget. */
export function rolloutsAhead(state: MiproState): number {
  const { config, phase, generation } = state;
  if (phase.name === 'done' || phase.name === 'failed' || phase.name === 'heldout') return 0;
  const trials = Math.max(0, config.numTrials - state.trials) * trialSize(config);
  const generations = Math.max(0, generationsOf(config) - generation) + (phase.name === 'evaluation' ? 0 : 1);
  const first = generation === 0 ? bootstrapSeeds(config).length : 0;
  // Beside its trials a generation runs what it compares them with, and what it learns from.
  const beside = generations * 2 * trialSize(config) + probes;
  const most = first + trials + beside + generations * rolloutsOfEvaluation(state) + endRollouts(state);
  return Math.min(remainingRollouts(state), most);
}
