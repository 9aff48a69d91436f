/**
 * Groups failures that share a cause, by common words of their feedback: a reflection on one cause
 * finds the rule behind it, and parallel proposals each take another cause.
 */
import type { FailurePick } from '../search/protocol.js';

export interface Feedback {
  feedback: string;
  reward: number;
}

/**
 * The indexes of `size` failures for each of `count` reflections: the first unused failure, and the
 * unused ones that share most words with it. A word weighs less the more failures have it, and
 * nothing above a share of 0.6. Failures repeat only when all are used.
 */
export function clusterByFeedback(failures: readonly Feedback[], size: number, count: number): number[][] {
  const words = failures.map(({ feedback }) => wordsOf(feedback));
  const used = new Set<number>();
  const groups: number[][] = [];
  for (let group = 0; group < count; group++) {
    const free = [...failures.keys()].filter((index) => !used.has(index));
    const from = free.length > 0 ? free : [...failures.keys()];
    const chosen = pickTogether(from, words, size);
    for (const index of chosen) used.add(index);
    groups.push(chosen);
  }
  return groups;
}

/** The failures that a proposal is shown; all of them without a pick. */
export function pickFailures<Failure extends Feedback>(
  failures: readonly Failure[],
  pick: FailurePick | undefined,
): Failure[] {
  if (!pick) return [...failures];
  return clusterByFeedback(failures, pick.size, pick.of)[pick.index]!.map((index) => failures[index]!);
}

/** The first failure and those that share most words with it. */
function pickTogether(indexes: readonly number[], words: readonly ReadonlySet<string>[], size: number): number[] {
  const [first] = indexes;
  if (first === undefined) return [];
  const frequency = new Map<string, number>();
  for (const own of words) for (const word of own) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const weight = (word: string) => {
    const share = frequency.get(word)! / words.length;
    return share > 0.6 ? 0 : 1 - share;
  };
  const likeness = (index: number) => {
    let shared = 0;
    for (const word of words[first]!) if (words[index]!.has(word)) shared += weight(word);
    return shared;
  };
  const others = indexes
    .slice(1)
    .map((index, order) => ({ index, order, likeness: likeness(index) }))
    .sort((left, right) => right.likeness - left.likeness || left.order - right.order);
  return [first, ...others.slice(0, size - 1).map(({ index }) => index)];
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu) ?? []);
}
