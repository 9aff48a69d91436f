/**
 * Failures to learn from: known results of a lineage, and the train seeds without any. Where equal
 * rollouts differ, or may, one success can be luck: a seed counts as solved after two in a row.
 */
import { isSolved } from '../math/rewards.js';
import { measuredOn, type Results } from './results.js';
import { mutationOf, type MutationConfig } from '../proposals/mutation.js';
import type { SearchConfig } from './config.js';
import type { ProposalRequest } from './protocol.js';
import type { RewardModel } from './reward-model.js';

/** A seed on which a candidate fails, by the latest rollout of itself or an ancestor. */
export interface Failure {
  seed: number;
  ordinal: number;
  age: number;
  /** How often proposals of the next candidate's kind were shown that rollout. */
  shown: number;
  reward: number;
}

interface TrainSeeds {
  order: readonly number[];
}

interface FailurePool extends TrainSeeds {
  /** How often proposals were shown a rollout, by `shownKey`. */
  timesShown: Readonly<Record<string, number>>;
  nextCandidate: number;
  results: Results;
  config: SearchConfig & MutationConfig;
}

/** The candidate's failures on the train seeds, the most useful for a reflection first. */
export function knownFailures(state: FailurePool, model: RewardModel, candidate: number): Failure[] {
  const { kind } = mutationOf(state.nextCandidate, state.config);
  const failures: Failure[] = [];
  for (const seed of state.order) {
    const posterior = model.posterior(candidate, seed);
    if (posterior === null || isSolved(posterior.mean) || isSolved(posterior.latest)) continue;
    const { ordinal, age, mean: reward } = posterior;
    failures.push({ seed, ordinal, age, shown: state.timesShown[shownKey(ordinal, kind)] ?? 0, reward });
  }
  // Least shown first, then least edits ago: a later edit may have repaired an old failure.
  return failures.sort(
    (left, right) => left.shown - right.shown || left.age - right.age || right.ordinal - left.ordinal,
  );
}

/** Train seeds without results of the candidate's lineage, in their order. */
export function unevaluatedSeeds(state: TrainSeeds, model: RewardModel, candidate: number): number[] {
  return state.order.filter((seed) => model.posterior(candidate, seed) === null);
}

/**
 * Train seeds that a candidate can learn from: those without results, else those it inherits, else,
 * without any known failure, those that one success may have solved by luck.
 */
export function seedsToRun(state: FailurePool, model: RewardModel, candidate: number): number[] {
  const unseen = unevaluatedSeeds(state, model, candidate);
  if (unseen.length > 0) return unseen;
  const inherited = inheritedSeeds(state, model, candidate);
  return inherited.length > 0 ? inherited : unconfirmedSeeds(state, model, candidate);
}

/** Train seeds whose results the candidate inherits, the oldest first. */
function inheritedSeeds(state: TrainSeeds, model: RewardModel, candidate: number): number[] {
  const inherited = state.order.flatMap((seed) => {
    const age = model.posterior(candidate, seed)?.age ?? 0;
    return age > 0 ? [{ seed, age }] : [];
  });
  return inherited.sort((left, right) => right.age - left.age).map(({ seed }) => seed);
}

/** Repeated rollouts without a difference that settle the suspicion of noise. */
const enoughComparisons = 12;

/** Train seeds that were solved once, where rewards are noisy or may be. */
function unconfirmedSeeds(state: FailurePool, model: RewardModel, candidate: number): number[] {
  const { variance, comparisons } = model.noise;
  const unsettled = state.config.isSampled === true ? Math.max(0, enoughComparisons - comparisons) : 0;
  const most = variance > 0 ? Infinity : unsettled;
  if (most === 0 || knownFailures(state, model, candidate).length > 0) return [];
  return state.order.filter((seed) => !isConfirmed(state.results, candidate, seed)).slice(0, most);
}

function isConfirmed(results: Results, candidate: number, seed: number): boolean {
  const latest = measuredOn(results, candidate, seed).slice(-2);
  return latest.length === 2 && latest.every(([, reward]) => isSolved(reward));
}

/** Whether no train seed is left that a candidate can learn from by running it. */
export function hasRunAll(state: FailurePool, model: RewardModel, candidate: number): boolean {
  return (
    state.order.every((seed) => model.posterior(candidate, seed)?.age === 0) &&
    unconfirmedSeeds(state, model, candidate).length === 0
  );
}

/** Whether a candidate has known failures, or train seeds to run. */
export function canImprove(state: FailurePool, model: RewardModel, candidate: number): boolean {
  return !hasRunAll(state, model, candidate) || knownFailures(state, model, candidate).length > 0;
}

/** Counts rollouts, by ordinal, as shown to a proposal of the kind. */
export function countShown(
  timesShown: FailurePool['timesShown'],
  shown: readonly number[],
  kind: ProposalRequest['kind'] = 'rewrite',
): Record<string, number> {
  const after: Record<string, number> = { ...timesShown };
  for (const ordinal of shown) {
    const key = shownKey(ordinal, kind);
    after[key] = (after[key] ?? 0) + 1;
  }
  return after;
}

/** An edit of the structure is another question than a rewrite, so it is counted apart. */
function shownKey(ordinal: number, kind: ProposalRequest['kind']): string {
  return kind === 'edit' ? `edit ${ordinal}` : `${ordinal}`;
}
