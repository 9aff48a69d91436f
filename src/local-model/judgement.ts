/** The `local` judge: scores an output by criterion, by words in it. */
import type { JudgementRequest } from '../core/verify/judge.js';
import { indexOfName } from './statements.js';
import { isCommon, splitWords, stem, tellingStems } from './words.js';

const maxChars = 16_000;
const maxNamed = 12;
/** Searched in the output, for each criterion. */
const maxQuotes = 100;

/**
 * The judgement as JSON. Quoted words of a criterion must be in the output; without quotes the
 * output is compared with the gold output, else with the words of the criterion.
 */
export function judgeLocally({ output, gold, criteria }: JudgementRequest): string {
  const shown = textOf(output);
  const words = splitWords(shown);
  const where = ` ${words.join(' ')} `;
  const stems = new Set(words.filter((word) => !isCommon(word)).map(stem));
  const likeWanted = gold === undefined ? null : like(textOf(gold.value), shown);
  const judged = criteria.map(({ name, description }) => {
    const quoted = [...description.slice(0, maxChars).matchAll(/["“`]([^"“”`\n]{1,200})["”`]/g)];
    const quotes = quoted.slice(0, maxQuotes).map((match) => match[1]!);
    return { name, ...(quotes.length > 0 ? having(quotes, where) : (likeWanted ?? covering(description, stems))) };
  });
  return JSON.stringify({ criteria: judged });
}

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, maxChars);
}

interface Score {
  reason: string;
  score: number;
}

function having(quotes: readonly string[], where: string): Score {
  const lacking = quotes.filter((quote) => indexOfName(quote, where) < 0);
  const named = (all: readonly string[]) => all.slice(0, maxNamed).map((quote) => `"${quote}"`);
  return {
    reason: lacking.length === 0 ? `It has ${named(quotes).join(', ')}.` : `Expected ${named(lacking).join(', ')}.`,
    score: rounded(1 - lacking.length / quotes.length),
  };
}

/** The Dice coefficient of the words. */
function like(wanted: string, output: string): Score {
  const [left, right] = [new Set(splitWords(wanted).map(stem)), new Set(splitWords(output).map(stem))];
  const shared = [...left].filter((word) => right.has(word)).length;
  const score = left.size + right.size === 0 ? 1 : rounded((2 * shared) / (left.size + right.size));
  if (score === 1) return { reason: 'It says what is wanted.', score };
  const expected = wanted.replaceAll('\n', ' ');
  return { reason: `It says other words than what is wanted.\nExpected: ${expected}`, score };
}

function covering(description: string, stems: ReadonlySet<string>): Score {
  const demanded = [...tellingStems(description.slice(0, maxChars))];
  const lacking = demanded.filter(([key]) => !stems.has(key)).map(([, word]) => word);
  if (lacking.length === 0) return { reason: 'It has all words of the criterion.', score: 1 };
  return {
    reason: `It lacks: ${lacking.slice(0, maxNamed).join(', ')}.`,
    score: rounded(1 - lacking.length / demanded.length),
  };
}

function rounded(score: number): number {
  return Math.round(score * 100) / 100;
}
