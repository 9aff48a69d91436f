/** Rollouts on train seeds that instructions and demonstrations are made from. */
import type { Pair } from '../../search/batch.js';
import { knownFailures, unevaluatedSeeds } from '../../search/failure-pool.js';
import { ask } from '../../search/lifecycle.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { measuredOn } from '../../search/results.js';
import type { RewardModel } from '../../search/reward-model.js';
import { spareRollouts } from './budget.js';
import { bootstrapSeeds, mayHaveDemos, noiseProbes, trialSize, wantedGood } from './config.js';
import { goodRollouts } from './demos.js';
import { leaderOf } from './expected-reward.js';
import { isAllRequested } from './space.js';
import type { MiproState } from './state.js';

/** Failures for a generation's instructions; with fewer the leader runs on further train seeds. */
const enoughFailures = 3;

/** Runs the leader on train seeds at the beginning of a generation; null: enough is known. */
export function explore(state: MiproState): MiproState | null {
  const { config } = state;
  const model = rewardModelOf(state);
  const isFirst = state.generation === 1;
  const candidate = isFirst ? 0 : leaderOf(state, model);
  const spare = Math.max(0, spareRollouts(state) - trialSize(config));
  const seeds = isFirst ? firstSeeds(state, spare) : laterSeeds(state, model, candidate, spare);
  const measuresNoise = isFirst && state.traffic === 'paired' && config.repeats === 1;
  const probes = measuresNoise ? config.evaluationSeeds.slice(0, noiseProbes) : [];
  return runOn(state, candidate, [...seeds, ...probes.slice(0, Math.max(0, spare - seeds.length))]);
}

/** Runs the baseline on more train seeds; null: enough are good, or half the budget is used. */
export function exploreFurther(state: MiproState, size: number): MiproState | null {
  const { config, results } = state;
  if (goodRollouts(state).length >= wantedGood(config)) return null;
  const own = new Set(bootstrapSeeds(config));
  const unseen = [...own].filter((seed) => measuredOn(results, 0, seed).length === 0);
  const spent = own.size - unseen.length;
  const share = Math.floor((spareRollouts(state) + spent) / 2) - spent;
  // Keep the rollouts of a trial: it is worth more than further good rollouts.
  const room = spareRollouts(state) - trialSize(config);
  return runOn(state, 0, unseen.slice(0, Math.max(0, Math.min(size, share, room))));
}

function runOn(state: MiproState, candidate: number, seeds: readonly number[]): MiproState | null {
  if (seeds.length === 0) return null;
  const pairs = seeds.map((seed): Pair => [candidate, seed]);
  return ask<MiproState>(state, pairs, (batch) => ({ name: 'minibatch', batch }));
}

function firstSeeds({ config, results }: MiproState, spare: number): number[] {
  const seeds = bootstrapSeeds(config).filter((seed) => measuredOn(results, 0, seed).length === 0);
  return seeds.slice(0, Math.min(wantedGood(config), Math.floor(spare / 2)));
}

/** Seeds without results of the candidate's lineage first, then seeds without own results. */
function laterSeeds(state: MiproState, model: RewardModel, candidate: number, spare: number): number[] {
  const { config, results, order } = state;
  const hasDemos = mayHaveDemos(config);
  if (isAllRequested(state) && !hasDemos) return [];
  const neverShown = knownFailures(state, model, candidate).filter(({ shown }) => shown === 0).length;
  const unseen = unevaluatedSeeds(state, model, candidate);
  const isUnseen = new Set(unseen);
  const unrun = order.filter((seed) => !isUnseen.has(seed) && measuredOn(results, candidate, seed).length === 0);
  const least = Math.max(enoughFailures - neverShown, hasDemos ? enoughFailures : 0);
  const wanted = unseen.length > 0 ? trialSize(config) : least;
  return [...unseen, ...unrun].slice(0, Math.max(0, Math.min(wanted, spare)));
}
