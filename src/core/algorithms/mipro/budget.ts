/** The rollouts budget of a MIPRO search, spread over its trials. */
import { endRollouts, searchRollouts } from '../../search/budget.js';
import { evaluationRollouts } from '../../search/config.js';
import { generationsAhead } from '../../search/view.js';
import {
  bootstrapSeeds,
  generationsOf,
  miproLimits,
  noiseProbes,
  trialLimit,
  trialSize,
  trialsAtOnce,
} from './config.js';
import type { MiproState } from './state.js';

/** Rollouts that are left beside the reserve for the end, within the limit of the state. */
export function spareRollouts(state: MiproState): number {
  const evaluated = Object.keys(state.evaluatedAt).length * evaluationRollouts(state.config);
  const room = miproLimits.learningRollouts - Math.max(0, state.asked - evaluated);
  const spare = searchRollouts(state) - evaluationCost(state) + evaluationRollouts(state.config);
  return Math.max(0, Math.min(room, spare));
}

/** Rollouts between two evaluations, in evaluations. */
const evaluationInterval = 10;
/** The number of trials that the next generation can have. */
export function affordableTrials(state: MiproState): number {
  const left = trialLimit(state.config) - state.trials;
  if (state.traffic === 'paired') return spareRollouts(state) < 1 ? 0 : Math.min(trialsAtOnce, left);
  return Math.min(trialsAtOnce, left, Math.floor(spareRollouts(state) / trialSize(state.config)));
}

/** The number of generations left within the budget, the current one included. */
export function generationsLeft(state: MiproState): number {
  const { config, generation } = state;
  const affordable = Math.floor(spareRollouts(state) / (trialsAtOnce * trialSize(config)));
  return Math.max(1, Math.min(generationsOf(config) - generation + 1, affordable));
}

/**
 * Whether an evaluation of `rollouts` is affordable: enough are left for the remaining trials, or,
 * without `numTrials`, the last evaluation is long ago.
 */
export function canSpare(state: MiproState, rollouts: number): boolean {
  const { config, trials, evaluatedAt, asked } = state;
  if (config.numTrials !== null)
    return spareRollouts(state) - rollouts >= (config.numTrials - trials) * trialSize(config);
  const last = Math.max(0, ...Object.values(evaluatedAt));
  return spareRollouts(state) >= rollouts && asked - last >= evaluationInterval * evaluationCost(state);
}

/** Rollouts of one evaluation; unpaired, the best runs beside the candidate. */
export function evaluationCost({ config, traffic }: MiproState): number {
  return evaluationRollouts(config) * (traffic === 'unpaired' ? 2 : 1);
}

/** The most rollouts that are likely to follow without infrastructure failures. */
export function rolloutsAhead(state: MiproState): number {
  const { config, generation } = state;
  const trials = Math.max(0, trialLimit(config) - state.trials) * trialSize(config);
  const generations = generationsAhead(state, generationsOf(config));
  const bootstrap = generation === 0 ? bootstrapSeeds(config).length : 0;
  // A generation also runs the control of its trials, and rollouts to learn from.
  const beside = generations * 2 * trialSize(config) + noiseProbes;
  return bootstrap + trials + beside + generations * evaluationCost(state) + endRollouts(state);
}
