/**
 * Similarity of two texts by their words: token F1 (Rajpurkar 2016), ROUGE-L (Lin 2004) and BLEU-4
 * of a sentence (Papineni 2002), smoothed from the second order by one (Lin and Och 2004).
 */
import { z } from 'zod';
import { unspaced } from '../core/verify/contains.js';
import { asText, maxFeedback, normalize, show } from '../core/verify/text.js';
import { cutWithin } from '../util/text.js';
import { comparing } from './scorer.js';

const metrics = {
  token_f1: { name: 'token F1', of: tokenF1 },
  rouge_l: { name: 'ROUGE-L', of: rougeL },
  bleu: { name: 'BLEU', of: bleu },
} as const;
const metricNames = z.enum(['token_f1', 'rouge_l', 'bleu']);

/** Maximum words compared: ROUGE-L takes time in the product of both numbers. */
const maxWords = 2_000;
const maxShown = { text: 1_200, words: 30 } as const;

export const similarity = comparing({
  schema: z
    .strictObject({
      type: z.literal('similarity'),
      metric: metricNames.optional().describe('Default token_f1.'),
    })
    .meta({ id: 'SimilarityScorer' }),
  settings: ({ metric = 'token_f1' }) => ({ metric }),
  reward: 'similarity of the words',
  expected: 'required',
  form: {
    label: 'Similarity',
    fields: [{ kind: 'choice', name: 'metric', label: 'Measure', choices: metricNames.options }],
  },
  problem: (_settings, expected) => (wordsOf(asText(expected)).length > 0 ? null : 'has no words to compare with'),
  score({ metric }, expected, output) {
    const [wanted, given] = [wordsOf(asText(expected ?? '')), wordsOf(asText(output ?? ''))];
    const { name, of } = metrics[metric];
    const reward = of(wanted, given);
    const lines = [
      reward === 1 ? 'Right: the words are those that were expected.' : describe(wanted, given),
      `Similarity (${name}): ${Math.round(reward * 1_000) / 1_000} of 1.`,
      `Expected: ${show(expected, maxShown.text)}`,
      `Given: ${show(output, maxShown.text)}`,
    ];
    return { reward, feedback: cutWithin(lines.join('\n'), maxFeedback) };
  },
});

/**
 * The words and numbers of a text without case and punctuation; in scripts without spaces, each
 * character.
 */
export function wordsOf(text: string): string[] {
  const runs = normalize(text, false).match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const words: string[] = [];
  for (const run of runs) {
    if (words.length >= maxWords) break;
    words.push(...(unspaced.test(run) ? splitUnspaced(run) : [run]));
  }
  return words.slice(0, maxWords);
}

/** The first words of a run. */
function splitUnspaced(run: string): string[] {
  const words: string[] = [];
  let isOpen = false;
  for (const character of run) {
    if (words.length > maxWords) break;
    const isSpaced = !unspaced.test(character);
    if (words.length > 0 && (/\p{M}/u.test(character) || (isOpen && isSpaced))) words[words.length - 1] += character;
    else words.push(character);
    isOpen = isSpaced;
  }
  return words;
}

function describe(expected: readonly string[], given: readonly string[]): string {
  if (given.length === 0) return 'There are no words in the output.';
  const missing = without(expected, given);
  const superfluous = without(given, expected);
  if (missing.length + superfluous.length === 0) return 'All words are there, but in another order.';
  return [
    ...(missing.length > 0 ? [`Missing words: ${list(missing)}`] : []),
    ...(superfluous.length > 0 ? [`Superfluous words: ${list(superfluous)}`] : []),
  ].join('\n');
}

/** The words less those of the other text, each as often as it stands there. */
function without(words: readonly string[], others: readonly string[]): string[] {
  const left = countsOf(others);
  return words.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count <= 0;
  });
}

function list(words: readonly string[]): string {
  const distinct = [...new Set(words)];
  const more = distinct.length - maxShown.words;
  return distinct.slice(0, maxShown.words).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function tokenF1(expected: readonly string[], given: readonly string[]): number {
  return harmonicMean(expected.length - without(expected, given).length, expected, given);
}

function rougeL(expected: readonly string[], given: readonly string[]): number {
  return harmonicMean(longestCommon(expected, given), expected, given);
}

/** F1 of the words in common; two texts without words are equal. */
function harmonicMean(common: number, expected: readonly string[], given: readonly string[]): number {
  return expected.length + given.length === 0 ? 1 : (2 * common) / (expected.length + given.length);
}

/** Length of the longest common subsequence. */
function longestCommon(left: readonly string[], right: readonly string[]): number {
  let row = new Array<number>(right.length + 1).fill(0);
  for (const word of left) {
    const next = [0];
    for (const [at, other] of right.entries()) {
      next.push(word === other ? row[at]! + 1 : Math.max(row[at + 1]!, next[at]!));
    }
    row = next;
  }
  return row.at(-1)!;
}

function bleu(expected: readonly string[], given: readonly string[]): number {
  if (expected.length + given.length === 0) return 1;
  if (expected.length === 0 || given.length === 0) return 0;
  // Shorter texts have no n-grams of the higher orders.
  const orders = Math.min(4, expected.length, given.length);
  let logs = 0;
  for (let order = 1; order <= orders; order += 1) {
    const grams = ngrams(given, order);
    const common = grams.length - without(grams, ngrams(expected, order)).length;
    const smoothing = order === 1 ? 0 : 1;
    logs += Math.log((common + smoothing) / (grams.length + smoothing)) / orders;
  }
  return Math.exp(Math.min(0, 1 - expected.length / given.length) + logs);
}

function ngrams(words: readonly string[], order: number): string[] {
  return words.slice(order - 1).map((_last, at) => words.slice(at, at + order).join(' '));
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
