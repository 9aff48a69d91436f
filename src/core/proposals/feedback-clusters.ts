/**
 * Which failures a reflection is shown together: those that share a cause, as far as their feedback says so in the same
 * words. A reflection on failures of one kind finds the rule behind them; proposals made side by side each take another
 * kind, so that they do not learn the same thing.
 */

export interface Feedback {
  feedback: string;
  reward: number;
}

/**
 * The places (in the list) of `size` failures for each of `count` reflections: the first that no reflection has yet, and of the
 * others that are left those that share most words with it, where a word counts the less the more failures have it, and nothing
 * where more than 0.6 of them do. Deterministic; a place comes twice only when all have had their turn.
 */
export function clusterByFeedback(failures: readonly Feedback[], size: number, count: number): number[][] {
  const words = failures.map(({ feedback }) => wordsOf(feedback));
  const used = new Set<number>();
  const groups: number[][] = [];
  for (let group = 0; group < count; group++) {
    const free = [...failures.keys()].filter((index) => !used.has(index));
    const from = free.length > 0 ? free : [...failures.keys()];
    const chosen = pickTogether(from, words, size);
    for (const one of chosen) used.add(one);
    groups.push(chosen);
  }
  return groups;
}

/** The first failure and those that share most with it; the more of all failures have a word, the less it counts. */
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
