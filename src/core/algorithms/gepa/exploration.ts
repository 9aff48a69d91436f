/** Rollouts of the parent on train seeds without known results, to find failures to learn from. */
import { mean } from '../../math/rewards.js';
import type { Batch, Pair } from '../../search/batch.js';
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { knownFailures, seedsToRun, unevaluatedSeeds } from '../../search/failure-pool.js';
import { ask } from '../../search/lifecycle.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import { ablationReserve } from './ablation.js';
import { gainedOn } from './acceptance.js';
import { rolloutsPerProposal } from './budget.js';
import { maxRegressionSeeds, noiseProbes } from './config.js';
import { parentOf } from './parents.js';
import { isStalled } from './stall.js';
import type { GepaState } from './state.js';
import { asksAgain } from './variation.js';

const latestChildren = 8;
/** The share of them that gained, from which on a known failure is asked about again at once. */
const payingShare = 1 / 4;

/** Runs the parent on further seeds; null: enough failures are known. */
export function explore(state: GepaState): GepaState | null {
  const { config } = state;
  const model = rewardModelOf(state);
  if (isStalled(state, model) || (isPaying(state) && asksAgain(state, model))) return null;
  const parent = parentOf(state, model);
  const size = minibatchOf(config);
  const neverShown = knownFailures(state, model, parent).filter(({ shown }) => shown === 0).length;
  const spare = spareRollouts(state);
  const unseen = unevaluatedSeeds(state, model, parent).length;
  const isFirst = state.generation === 1;
  // As many failures as a child repairs; with few proposals each gets its own failures.
  const perProposal = Math.min(size, rolloutsPerProposal(state) - size - maxRegressionSeeds(config));
  const wanted = Math.max(
    isFirst ? size : Math.min(size, repairedAtOnce(state, model)),
    Math.floor(perProposal * config.populationSize),
  );
  const count = Math.min(Math.max(0, wanted - neverShown), spare);
  const seeds = seedsToRun(state, model, parent).slice(0, neverShown === 0 ? count : Math.min(count, unseen));
  const probes = isFirst ? probeSeeds(state, model, seeds).slice(0, spare - seeds.length) : [];
  return runParent(state, parent, [...seeds, ...probes]);
}

/** Continues without a new failure so far, on twice as many seeds; null: ask about those known. */
export function exploreFurther(state: GepaState, { pairs }: Batch): GepaState | null {
  const model = rewardModelOf(state);
  const parent = parentOf(state, model);
  if (knownFailures(state, model, parent).some(({ shown }) => shown === 0)) return null;
  if (pairs.some(([candidate]) => candidate !== parent)) return explore(state);
  if (asksAgain(state, model)) return null;
  const seeds = seedsToRun(state, model, parent);
  return runParent(state, parent, seeds.slice(0, Math.min(2 * pairs.length, spareRollouts(state))));
}

/** Whether enough of the latest proposals gained; a duplicate has no candidate. */
function isPaying({ candidates, nextCandidate }: GepaState): boolean {
  const gained = candidates.filter(
    ({ candidate, parents, status }) =>
      candidate >= nextCandidate - latestChildren && parents.length === 1 && status !== 'rejected',
  );
  return nextCandidate <= latestChildren || gained.length >= payingShare * latestChildren;
}

/** Failures that a child repairs: the mean over the latest children. */
function repairedAtOnce({ candidates, results, order }: GepaState, model: RewardModel): number {
  const repaired = candidates
    .filter(({ candidate, parents }) => parents.length === 1 && results[candidate])
    .slice(-latestChildren)
    .map(({ candidate }) => order.filter((seed) => gainedOn(results, model, candidate, seed)).length);
  return Math.max(1, Math.round(mean(repaired) ?? 1));
}

function runParent(state: GepaState, parent: number, seeds: readonly number[]): GepaState | null {
  if (seeds.length === 0) return null;
  const pairs = seeds.map((seed): Pair => [parent, seed]);
  return ask<GepaState>(state, pairs, (batch) => ({ name: 'minibatch', batch }));
}

/** The share of the budget for runs of a parent on further seeds. */
function spareRollouts(state: GepaState): number {
  const kept = ablationReserve(state, rewardModelOf(state));
  const beyondProposal = searchRollouts(state) - kept - minibatchOf(state.config);
  // Always allow one rollout of the parent: without it the smallest budget buys no proposal.
  return Math.max(Math.min(1, beyondProposal), Math.floor(beyondProposal / 2), 0);
}

/** Seeds for repeated rollouts: only seeds with a result, or with one in this batch. */
function probeSeeds(state: GepaState, model: RewardModel, running: readonly number[]): number[] {
  const known = state.order.filter((seed) => running.includes(seed) || model.posterior(0, seed) !== null);
  return Array.from({ length: noiseProbes(state.config) }, (_, index) => known[index % known.length]!);
}
