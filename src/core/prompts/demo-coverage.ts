/** The order of possible demonstrations in which each beginning covers most of the task. */
import { groupBy } from '../../util/group.js';

/** The text of a possible demonstration: its question and its answer. */
export interface DemoText {
  input: string;
  output: string;
}

/** Words in more than this share of the texts tell nothing. */
const commonShare = 0.6;

/**
 * The indexes of `demos` in a greedy order: each covers the most that those before it do not. A
 * word counts by the number of questions with it: `open` ones, if any, or all. A whole answer of
 * several demonstrations, such as a label, counts by their number. Ties keep the order.
 */
export function orderByCoverage(demos: readonly DemoText[], open: readonly string[]): number[] {
  const weights = weightsOf(demos, open);
  const contents = demos.map(contentOf);
  const covered = new Set<string>();
  const left = [...demos.keys()];
  const order: number[] = [];
  while (left.length > 0) {
    let best = 0;
    let most = -1;
    for (const [at, index] of left.entries()) {
      let gain = 0;
      for (const word of contents[index]!) if (!covered.has(word)) gain += weights.get(word) ?? 0;
      if (gain > most) [best, most] = [at, gain];
    }
    // All is covered: the next ones cover it again.
    if (most <= 0 && covered.size > 0) {
      covered.clear();
      continue;
    }
    const [index] = left.splice(best, 1);
    order.push(index!);
    for (const word of contents[index!]!) covered.add(word);
  }
  return order;
}

/** The indexes of answers that occur more than once, such as labels; one list for each answer. */
export function sharedAnswers(answers: readonly string[]): number[][] {
  const groups = groupBy([...answers.keys()], (index) => answers[index]!.trim());
  return [...groups.values()].filter((indexes) => indexes.length > 1);
}

function weightsOf(demos: readonly DemoText[], open: readonly string[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  const questions = (open.length > 0 ? open : demos.map(({ input }) => input)).map(wordsOf);
  const all = frequencies([...demos.map(({ input }) => wordsOf(input)), ...open.map(wordsOf)]);
  for (const [word, count] of frequencies(questions)) {
    const among = all.get(word)!;
    // A word of one text alone, such as its number, covers no other.
    if (among > 1 && among <= commonShare * (demos.length + open.length)) weights.set(word, count);
  }
  const labels = frequencies(demos.map(({ output }) => new Set([labelOf(output)])));
  for (const [label, count] of labels) if (count > 1) weights.set(label, count);
  return weights;
}

function contentOf({ input, output }: DemoText): ReadonlySet<string> {
  return new Set([...wordsOf(input), labelOf(output)]);
}

/** Never a word: words have no leading space. */
function labelOf(output: string): string {
  return ` ${output.trim()}`;
}

function frequencies(texts: readonly ReadonlySet<string>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const words of texts) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu) ?? []);
}
