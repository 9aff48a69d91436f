/**
 * One batch of rollouts: what was asked, what has been answered, what is asked again. A stage goes on only when its
 * whole batch is answered, so results are folded in the order asked and timing never changes the path.
 *
 * Invariants: every request has an ordinal of its own, counted without gaps; answers must be exactly those asked for; a
 * failed rollout counts as reward 0; one that the infrastructure failed is asked again at most twice, while there is
 * budget that nothing else is reserved for.
 */
import type { RolloutAnswer, RolloutRequest, Stage } from './protocol.js';
import { normalizeReward } from '../math/rewards.js';

/** What is wanted: a candidate on a seed. */
export type Pair = readonly [candidate: number, seed: number];

export interface Batch {
  pairs: Pair[];
  /** For each pair the ordinal it was last asked under. */
  ordinals: number[];
  /** For each pair its reward, null while outstanding. */
  rewards: (number | null)[];
  /** How often what is outstanding has been asked again. */
  repeats: number;
}

const maxRepeats = 2;

/** A batch that asks for `pairs` under the ordinals from `firstOrdinal` on. */
export function openBatch(pairs: Pair[], firstOrdinal: number): Batch {
  return {
    pairs,
    ordinals: pairs.map((_, index) => firstOrdinal + index),
    rewards: pairs.map(() => null),
    repeats: 0,
  };
}

/** The rewards in the order of the pairs once nothing is outstanding, else null. */
export function rewardsOf(batch: Batch): number[] | null {
  const rewards = batch.rewards.filter((reward) => reward !== null);
  return rewards.length === batch.pairs.length ? rewards : null;
}

/** The requests outstanding, by ascending ordinal. */
export function requestsOf(batch: Batch, stage: Stage, generation: number): RolloutRequest[] {
  return outstanding(batch).map((index) => {
    const [candidate, seed] = batch.pairs[index]!;
    return { ordinal: batch.ordinals[index]!, candidate, seed, stage, generation };
  });
}

/** The batch after its outstanding requests were answered; `repeatable` is how many may be asked again at most. */
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
  for (const index of indexes) {
    const answer = byOrdinal.get(ordinals[index]!)!;
    if (answer.reward === null && answer.infrastructure && free > 0) {
      ordinals[index] = next++;
      free--;
    } else {
      rewards[index] = normalizeReward(answer.reward ?? 0);
    }
  }
  return { batch: { pairs: batch.pairs, ordinals, rewards, repeats: batch.repeats + 1 }, nextOrdinal: next };
}

function outstanding(batch: Batch): number[] {
  // Pairs asked again all get later ordinals in the order of the pairs, so this order is that of the ordinals too.
  return [...batch.rewards.keys()].filter((index) => batch.rewards[index] === null);
}

function matchAnswers(asked: readonly number[], answers: readonly RolloutAnswer[]): Map<number, RolloutAnswer> {
  const wanted = new Set(asked);
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
  const missing = asked.find((ordinal) => !byOrdinal.has(ordinal));
  if (missing !== undefined) {
    throw new Error(`rollout ${missing} was asked for and not answered (${answers.length} of ${asked.length} answers)`);
  }
  return byOrdinal;
}
