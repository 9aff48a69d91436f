/**
 * A batch of rollouts. A stage continues only after its whole batch, and results are folded in the
 * order of the requests, so timing never changes the path.
 * Invariants: every request has its own ordinal, without gaps; answers must match the requests
 * exactly; a failed rollout has reward 0; an infrastructure failure is requested again at most
 * twice, within the budget that is not reserved; a pair whose output stays unverified leaves the
 * batch without a reward.
 */
import { addEmpty, type EmptyCounts } from '../answers/empty-answers.js';
import type { EmptyReason } from '../answers/ending.js';
import type { RolloutAnswer, RolloutRequest, Stage } from './protocol.js';
import { normalizeReward } from '../math/rewards.js';

export type Pair = readonly [candidate: number, seed: number];

export interface Batch {
  pairs: Pair[];
  /** For each pair the ordinal of its last request. */
  ordinals: number[];
  /** For each pair its reward; null while outstanding. */
  rewards: (number | null)[];
  /** How often outstanding pairs were requested again. */
  repeats: number;
  /** The candidates with a successful rollout. */
  measured: number[];
  /** Answers without a text, by reason. Absent: none. */
  empty?: EmptyCounts;
  /** Pairs that left the batch: no try was verified. Absent: none. */
  unverified?: Pair[];
}

const maxRepeats = 2;

/** The seeds of a candidate's pairs. */
export function seedsOf(pairs: readonly Pair[], candidate: number): Set<number> {
  return new Set(pairs.flatMap(([own, seed]) => (own === candidate ? [seed] : [])));
}

/** A candidate on each of the seeds. */
export function pairsOf(candidate: number, seeds: readonly number[]): Pair[] {
  return seeds.map((seed) => [candidate, seed]);
}

export function openBatch(pairs: Pair[], firstOrdinal: number): Batch {
  return {
    pairs,
    ordinals: pairs.map((_, index) => firstOrdinal + index),
    rewards: pairs.map(() => null),
    repeats: 0,
    measured: [],
  };
}

/** The rewards in the order of the pairs; null while some are outstanding. */
export function rewardsOf(batch: Batch): number[] | null {
  const rewards = batch.rewards.filter((reward) => reward !== null);
  return rewards.length === batch.pairs.length ? rewards : null;
}

/** The outstanding requests, by ascending ordinal. */
export function requestsOf(batch: Batch, stage: Stage, generation: number): RolloutRequest[] {
  return outstanding(batch).map((index) => {
    const [candidate, seed] = batch.pairs[index]!;
    return { ordinal: batch.ordinals[index]!, candidate, seed, stage, generation };
  });
}

/** Whether the batch waits for the answer of an ordinal. */
export function isOutstanding({ ordinals, rewards }: Batch, ordinal: number): boolean {
  const index = ordinals.indexOf(ordinal);
  return index >= 0 && rewards[index] === null;
}

/** The batch with answers to all outstanding requests; `repeatable` limits repeated requests. */
export function foldAnswers(
  batch: Batch,
  answers: readonly RolloutAnswer[],
  nextOrdinal: number,
  repeatable: number,
): { batch: Batch; nextOrdinal: number } {
  const indexes = outstanding(batch);
  const byOrdinal = matchAnswers(
    indexes.map((index) => batch.ordinals[index]!),
    answers,
  );
  const ordinals = [...batch.ordinals];
  const rewards = [...batch.rewards];
  let free = batch.repeats < maxRepeats ? repeatable : 0;
  let next = nextOrdinal;
  const unverified = new Set<number>();
  const measured = new Set(batch.measured);
  const empty: (EmptyReason | undefined)[] = [];
  for (const index of indexes) {
    const answer = byOrdinal.get(ordinals[index]!)!;
    if (answer.reward === null && answer.infrastructure && free > 0) {
      ordinals[index] = next++;
      free--;
    } else if (answer.reward === null && answer.unverified) {
      unverified.add(index);
    } else {
      rewards[index] = normalizeReward(answer.reward ?? 0);
      if (answer.reward !== null) measured.add(batch.pairs[index]![0]);
      empty.push(answer.empty);
    }
  }
  const folded: Batch = { ...batch, ordinals, rewards, repeats: batch.repeats + 1, measured: [...measured] };
  if (empty.some((reason) => reason !== undefined)) folded.empty = addEmpty(batch.empty ?? {}, empty);
  return { batch: unverified.size === 0 ? folded : withoutPairs(folded, unverified), nextOrdinal: next };
}

/** Whether a candidate has rollouts in the batch, and every one failed. */
export function hasAllFailed({ pairs, measured }: Batch, candidate: number): boolean {
  return !measured.includes(candidate) && pairs.some(([of]) => of === candidate);
}

function withoutPairs(batch: Batch, removed: ReadonlySet<number>): Batch {
  const isKept = (_: unknown, index: number) => !removed.has(index);
  const { pairs, ordinals, rewards, unverified = [] } = batch;
  return {
    ...batch,
    pairs: pairs.filter(isKept),
    ordinals: ordinals.filter(isKept),
    rewards: rewards.filter(isKept),
    unverified: [...unverified, ...pairs.filter((_, index) => removed.has(index))],
  };
}

function outstanding(batch: Batch): number[] {
  // Repeated pairs get later ordinals in the order of the pairs, so ordinals ascend too.
  return [...batch.rewards.keys()].filter((index) => batch.rewards[index] === null);
}

function matchAnswers(expected: readonly number[], answers: readonly RolloutAnswer[]): Map<number, RolloutAnswer> {
  const wanted = new Set(expected);
  const byOrdinal = new Map<number, RolloutAnswer>();
  for (const answer of answers) {
    const { ordinal, reward } = answer;
    if (!wanted.has(ordinal)) throw new Error(`rollout ${ordinal} was answered but is not among those asked for`);
    if (byOrdinal.has(ordinal)) throw new Error(`rollout ${ordinal} was answered twice`);
    if (reward !== null && !Number.isFinite(reward)) {
      throw new Error(`rollout ${ordinal} was answered with reward ${reward}; it must be a finite number or null`);
    }
    byOrdinal.set(ordinal, answer);
  }
  const missing = expected.find((ordinal) => !byOrdinal.has(ordinal));
  if (missing !== undefined) {
    throw new Error(
      `rollout ${missing} was asked for and not answered (${answers.length} of ${expected.length} answers)`,
    );
  }
  return byOrdinal;
}
