/** The rollouts budget of a MIPRO search, spread over its trials. */
import { endRollouts, searchRollouts } from '../../search/budget.js';
import { evaluationRollouts } from '../../search/config.js';
import { generationsAhead } from '../../search/view.js';
import { bootstrapSeeds, generationsOf, noiseProbes, trialSize, trialsAtOnce } from './config.js';
import type { MiproState } from './state.js';

/** Rollouts that are left beside the reserve for the end. */
export function spareRollouts(state: MiproState): number {
  return Math.max(0, searchRollouts(state) - evaluationCost(state) + evaluationRollouts(state.config));
}

/** The number of trials that the next generation can have. */
export function affordableTrials(state: MiproState): number {
  const left = state.config.numTrials - state.trials;
  return Math.min(trialsAtOnce, left, Math.floor(spareRollouts(state) / trialSize(state.config)));
}

/** The number of generations left within the budget, the current one included. */
export function generationsLeft(state: MiproState): number {
  const { config, generation } = state;
  const affordable = Math.floor(spareRollouts(state) / (trialsAtOnce * trialSize(config)));
  return Math.max(1, Math.min(generationsOf(config) - generation + 1, affordable));
}

/** Whether enough rollouts for the remaining trials are left after `rollouts` more. */
export function canSpare(state: MiproState, rollouts: number): boolean {
  const left = (state.config.numTrials - state.trials) * trialSize(state.config);
  return spareRollouts(state) - rollouts >= left;
}

/** Rollouts of one evaluation; unpaired, the best runs beside the candidate. */
export function evaluationCost({ config, traffic }: MiproState): number {
  return evaluationRollouts(config) * (traffic === 'unpaired' ? 2 : 1);
}

/** The most rollouts that are likely to follow without infrastructure failures. */
export function rolloutsAhead(state: MiproState): number {
  const { config, generation } = state;
  const trials = Math.max(0, config.numTrials - state.trials) * trialSize(config);
  const generations = generationsAhead(state, generationsOf(config));
  const bootstrap = generation === 0 ? bootstrapSeeds(config).length : 0;
  // A generation also runs the control of its trials, and rollouts to learn from.
  const beside = generations * 2 * trialSize(config) + noiseProbes;
  return bootstrap + trials + beside + generations * evaluationCost(state) + endRollouts(state);
}
