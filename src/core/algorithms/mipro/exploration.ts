/** Rollouts on train seeds that instructions and demonstrations are made from. */
import { pairsOf } from '../../search/batch.js';
import { knownFailures, seedsToRun, unevaluatedSeeds } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import { measuredOn } from '../../search/results.js';
import type { RewardModel } from '../../search/reward-model.js';
import { openRound } from '../../search/round.js';
import { spareRollouts } from './budget.js';
import {
  bootstrapSeeds,
  failuresShown,
  maxLater,
  mayHaveDemos,
  noiseProbes,
  trialSize,
  wantedGood,
  wantedLabeled,
} from './config.js';
import { goodRollouts } from './good-rollouts.js';
import { leaderOf } from './expected-reward.js';
import { isAllRequested } from './space.js';
import type { MiproState } from './state.js';

/** Failures for a generation's instructions; with fewer the leader runs on further train seeds. */
const enoughFailures = failuresShown * maxLater;

/** Runs the leader on train seeds at the beginning of a generation; null: enough is known. */
export function explore(state: MiproState): MiproState | null {
  const { config } = state;
  const model = rewardModelOf(state);
  const isFirst = state.generation === 1;
  const candidate = isFirst ? 0 : leaderOf(state, model);
  const spare = Math.max(0, spareRollouts(state) - testReserve(state));
  const seeds = isFirst ? firstSeeds(state, spare) : laterSeeds(state, model, candidate, spare);
  const measuresNoise = isFirst && state.traffic === 'paired' && config.repeats === 1;
  const probes = measuresNoise ? config.evaluationSeeds.slice(0, noiseProbes) : [];
  return runOn(state, candidate, [...seeds, ...probes.slice(0, Math.max(0, spare - seeds.length))]);
}

/** The rollouts of a test, or of a trial: without it, exploration finds nothing to use. */
function testReserve({ traffic, config }: MiproState): number {
  return traffic === 'paired' ? Math.min(failuresShown, trialSize(config)) : trialSize(config);
}

/** Runs the baseline on more train seeds; null: enough can be shown, or half the budget is used. */
export function bootstrapFurther(state: MiproState): MiproState | null {
  const { config, results } = state;
  const own = new Set(bootstrapSeeds(config));
  const unseen = [...own].filter((seed) => measuredOn(results, 0, seed).length === 0);
  const spent = own.size - unseen.length;
  const size = seedsToBootstrap(state, spent);
  if (size <= 0) return null;
  const share = Math.floor((spareRollouts(state) + spent) / 2) - spent;
  // Keep the rollouts of a trial: it is worth more than further good rollouts.
  const room = spareRollouts(state) - testReserve(state);
  return runOn(state, 0, unseen.slice(0, Math.max(0, Math.min(size, share, room))));
}

/** Until enough right answers are known, or, without any, enough good rollouts: twice as many. */
function seedsToBootstrap(state: MiproState, spent: number): number {
  const { config, usable } = state;
  const labeled = usable.length === 0 ? 0 : Math.min(...usable.map((slot) => slot.labeled.length));
  if (labeled > 0) return wantedLabeled(config) - labeled;
  return goodRollouts(state).length >= wantedGood(config) ? 0 : spent + wantedGood(config);
}

/** Runs the leader on more train seeds until it fails where no proposal was shown. */
export function failFurther(state: MiproState, size: number): MiproState | null {
  if (state.traffic === 'unpaired') return null;
  const model = rewardModelOf(state);
  const leader = leaderOf(state, model);
  if (knownFailures(state, model, leader).some(({ shown }) => shown === 0)) return null;
  const room = Math.max(0, Math.min(size, spareRollouts(state) - testReserve(state)));
  return runOn(state, leader, seedsToRun(state, model, leader).slice(0, room));
}

function runOn(state: MiproState, candidate: number, seeds: readonly number[]): MiproState | null {
  if (seeds.length === 0) return null;
  return openRound<MiproState>(state, { minibatch: pairsOf(candidate, seeds) }, (round) => ({
    ...round,
    name: 'minibatch',
  }));
}

function firstSeeds({ config, results }: MiproState, spare: number): number[] {
  const seeds = bootstrapSeeds(config).filter((seed) => measuredOn(results, 0, seed).length === 0);
  return seeds.slice(0, Math.min(wantedGood(config), Math.floor(spare / 2)));
}

function laterSeeds(state: MiproState, model: RewardModel, candidate: number, spare: number): number[] {
  if (isAllRequested(state) && !mayHaveDemos(state.config)) return [];
  const neverShown = knownFailures(state, model, candidate).filter(({ shown }) => shown === 0).length;
  if (state.traffic === 'unpaired') return unpairedSeeds(state, model, candidate, spare, neverShown);
  const wanted = Math.max(0, enoughFailures - neverShown);
  return seedsToRun(state, model, candidate).slice(0, Math.min(wanted, spare));
}

function unpairedSeeds(
  { config, results, order }: MiproState,
  model: RewardModel,
  candidate: number,
  spare: number,
  neverShown: number,
): number[] {
  const unseen = unevaluatedSeeds({ order }, model, candidate);
  const isUnseen = new Set(unseen);
  const unrun = order.filter((seed) => !isUnseen.has(seed) && measuredOn(results, candidate, seed).length === 0);
  const least = Math.max(failuresShown - neverShown, mayHaveDemos(config) ? failuresShown : 0);
  const wanted = unseen.length > 0 ? trialSize(config) : least;
  return [...unseen, ...unrun].slice(0, Math.max(0, Math.min(wanted, spare)));
}
