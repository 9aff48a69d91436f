/** Rollouts of the parent on train seeds without known results, to find failures to learn from. */
import { mean } from '../../math/rewards.js';
import { pairsOf, seedsOf, type Batch, type Pair } from '../../search/batch.js';
import { searchRollouts } from '../../search/budget.js';
import { minibatchOf } from '../../search/config.js';
import { knownFailures, seedsToRun, unevaluatedSeeds } from '../../search/failure-pool.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import { ablationReserve } from './ablation.js';
import { cohortSize, isBudgetAmple, isWide, rolloutsPerProposal } from './budget.js';
import { maxRegressionSeeds, noiseProbes } from './config.js';
import { parentOf } from './parents.js';
import { gainedOn } from '../../search/targeted-test.js';
import { isStalled } from './stall.js';
import type { GepaState } from './state.js';
import { asksAgain } from './explicit-rules.js';

/** Failures to find for each child of a wide search. */
const failuresPerChild = 1;
/** Rollouts of a round, as a multiple of the slots, that exploration fills up to. */
const fullRound = 2;
const latestChildren = 8;
/** The share of them that gained, from which on a known failure is asked about again at once. */
const payingShare = 1 / 4;

/** Further seeds for the parent; empty: enough failures are known. */
export function exploreForRules(state: GepaState): Pair[] {
  const { config } = state;
  const model = rewardModelOf(state);
  if (isStalled(state, model) || (isPaying(state) && asksAgain(state, model))) return [];
  const parent = parentOf(state, model);
  const size = minibatchOf(config);
  const neverShown = knownFailures(state, model, parent).filter(({ shown }) => shown === 0).length;
  const spare = spareRollouts(state);
  const unseen = unevaluatedSeeds(state, model, parent).length;
  const isFirst = state.begun === 1;
  // As many failures as a child repairs; with few proposals each gets its own failures.
  const perProposal = Math.min(size, rolloutsPerProposal(state) - size - maxRegressionSeeds(config));
  const wanted = Math.max(
    isFirst ? size : Math.min(size, repairedAtOnce(state, model)),
    Math.floor(perProposal * config.populationSize),
    failuresAhead(state),
  );
  const count = Math.min(Math.max(0, wanted - neverShown), spare);
  const seeds = seedsToRun(state, model, parent).slice(0, neverShown === 0 ? count : Math.min(count, unseen));
  const probes = isFirst && !isProbed(state) ? probeSeeds(state, model, seeds).slice(0, spare - seeds.length) : [];
  return pairsOf(parent, [...seeds, ...probes]);
}

/**
 * Unseen seeds for the next parent while other work runs, as many as its proposals need beside the
 * failures that are not `taken`; while the budget is ample, seeds that fill the round too.
 */
export function exploreAheadForRules(state: GepaState, taken: ReadonlySet<number>, running: readonly Pair[]): Pair[] {
  const model = rewardModelOf(state);
  const parent = parentOf(state, model);
  const known = knownFailures(state, model, parent).filter(({ shown, seed }) => shown === 0 && !taken.has(seed));
  const wanted = failuresAhead(state) - known.length;
  const free = isBudgetAmple(state) ? fullRound * state.config.slots - running.length : 0;
  const own = seedsOf(running, parent);
  const isFree = (seed: number) => !own.has(seed);
  const unseen = unevaluatedSeeds(state, model, parent).filter(isFree).slice(0, Math.max(0, wanted));
  const seeds = free > unseen.length ? seedsToRun(state, model, parent).filter(isFree).slice(0, free) : unseen;
  return pairsOf(parent, seeds.slice(0, spareRollouts(state)));
}

/** Continues without a new failure so far, on twice as many seeds; empty: ask about those known. */
export function exploreFurtherForRules(state: GepaState, { pairs }: Batch): Pair[] {
  const model = rewardModelOf(state);
  const parent = parentOf(state, model);
  if (knownFailures(state, model, parent).some(({ shown }) => shown === 0)) return [];
  if (pairs.some(([candidate]) => candidate !== parent)) return exploreForRules(state);
  if (asksAgain(state, model)) return [];
  const seeds = seedsToRun(state, model, parent);
  return pairsOf(parent, seeds.slice(0, Math.min(2 * pairs.length, spareRollouts(state))));
}

/** Whether the first generation begins again, after questions that brought nothing new. */
function isProbed({ results }: GepaState): boolean {
  return Object.values(results[0] ?? {}).some((runs) => runs.length > 1);
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

/** Failures that the proposals of the next cohort use; 0: a sequential search finds its own. */
function failuresAhead(state: GepaState): number {
  return isWide(state) ? failuresPerChild * cohortSize(state, state.begun + 1) : 0;
}

/** Whether a wide search asks about half as many failures as it looks for, and explores beside. */
export function hasEnoughFailures(state: GepaState): boolean {
  if (!isWide(state)) return false;
  const model = rewardModelOf(state);
  const failures = knownFailures(state, model, parentOf(state, model)).filter(({ shown }) => shown === 0);
  return 2 * failures.length >= cohortSize(state, state.begun);
}

/** The share of the budget for runs of a parent on further seeds. */
export function spareRollouts(state: GepaState): number {
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
