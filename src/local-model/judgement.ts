/**
 * The `local` judge: scores an output by criterion, by words in it. It recognizes the request by
 * its headings, from `# Task` to `# Criterion 1`, with quoted parts.
 */
import { LocalRequestError } from './request-error.js';
import { indexOfName } from './statements.js';
import { isCommon, splitWords, stem, tellingStems } from './words.js';

export interface ShownJudgement {
  output: string;
  /** null: the task has none. */
  wanted: string | null;
  criteria: { name: string; description: string }[];
}

const maxLength = 1_000_000;
/** As many as a rubric may have. */
const maxCriteria = 20;
const maxOutputWords = 200_000;
const maxWords = 5_000;
const maxNamed = 12;
const maxShown = 20_000;
/** Searched in the output, for each criterion. */
const maxQuotes = 100;

/**
 * The parsed request, or null for another kind of message. Throws a LocalRequestError for more
 * criteria than a rubric may have.
 */
export function readJudgement(message: string): ShownJudgement | null {
  const shown: ShownJudgement = { output: '', wanted: null, criteria: [] };
  let put: ((text: string) => void) | null = null;
  let isOutputShown = false;
  for (const line of message.slice(0, maxLength).split('\n')) {
    if (line.startsWith('>')) {
      put?.(line.slice(2));
      continue;
    }
    const criterion = shown.criteria.at(-1);
    if (/^# Criterion \d+$/.test(line)) shown.criteria.push({ name: '', description: '' });
    else if (line === 'Name:' && criterion) put = (text) => (criterion.name = joined(criterion.name, text));
    else if (line === 'Description:' && criterion)
      put = (text) => (criterion.description = joined(criterion.description, text));
    else if (line === '# Output to judge') {
      isOutputShown = true;
      put = (text) => (shown.output = joined(shown.output, text));
    } else if (line === '# Wanted output of this task') {
      put = (text) => (shown.wanted = joined(shown.wanted ?? '', text));
    } else if (line.startsWith('#')) put = null;
  }
  if (!isOutputShown || shown.criteria.length === 0) return null;
  if (shown.criteria.length > maxCriteria) {
    const given = `\`messages\` has a judgement by ${shown.criteria.length} criteria`;
    throw new LocalRequestError('messages', `${given}; the provider "local" judges by at most ${maxCriteria}`);
  }
  return shown;
}

function joined(before: string, text: string): string {
  return before === '' ? text : `${before}\n${text}`;
}

/**
 * The judgement as JSON. Quoted words of a criterion must be in the output; without quotes the
 * output is compared with the gold output, else with the words of the criterion. Throws a
 * LocalRequestError for an output of too many words.
 */
export function judgeLocally({ output, wanted, criteria }: ShownJudgement): string {
  const words = splitWords(output);
  if (words.length > maxOutputWords) {
    const given = `\`messages\` has an output of ${words.length} words to judge`;
    throw new LocalRequestError('messages', `${given}; the provider "local" reads at most ${maxOutputWords}`);
  }
  const where = ` ${words.join(' ')} `;
  const stems = new Set(words.filter((word) => !isCommon(word)).map(stem));
  const likeWanted = wanted === null ? null : like(wanted, output);
  const judged = criteria.map(({ name, description }) => {
    const quotes = [...description.matchAll(/["“`]([^"“”`\n]{1,200})["”`]/g)].map((match) => match[1]!);
    const { score, reason } =
      quotes.length > 0 ? having(quotes.slice(0, maxQuotes), where) : (likeWanted ?? covering(description, stems));
    return { name, reason, score };
  });
  return JSON.stringify({ criteria: judged });
}

interface Score {
  score: number;
  reason: string;
}

function having(quotes: readonly string[], where: string): Score {
  const lacking = quotes.filter((quote) => indexOfName(quote, where) < 0);
  const named = (all: readonly string[]) => all.slice(0, maxNamed).map((quote) => `"${quote}"`);
  return {
    score: rounded(1 - lacking.length / quotes.length),
    reason: lacking.length === 0 ? `It has ${named(quotes).join(', ')}.` : `Expected ${named(lacking).join(', ')}.`,
  };
}

function like(wanted: string, output: string): Score {
  const score = rounded(likeness(wanted, output));
  if (score === 1) return { score, reason: 'It says what is wanted.' };
  return {
    score,
    reason: `It says other words than what is wanted.\nExpected: ${wanted.slice(0, maxShown).replaceAll('\n', ' ')}`,
  };
}

function covering(description: string, stems: ReadonlySet<string>): Score {
  const demanded = [...tellingStems(description)].slice(0, maxWords);
  const lacking = demanded.filter(([key]) => !stems.has(key)).map(([, word]) => word);
  return {
    score: demanded.length === 0 ? 1 : rounded(1 - lacking.length / demanded.length),
    reason:
      lacking.length === 0
        ? 'It has all words of the criterion.'
        : `It lacks: ${lacking.slice(0, maxNamed).join(', ')}.`,
  };
}

/** Similarity of two texts from 0 to 1: the Dice coefficient of their words. */
export function likeness(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => new Set(splitWords(text).slice(0, maxWords).map(stem))) as [
    Set<string>,
    Set<string>,
  ];
  if (left.size + right.size === 0) return 1;
  return (2 * [...left].filter((word) => right.has(word)).length) / (left.size + right.size);
}

function rounded(score: number): number {
  return Math.round(score * 100) / 100;
}
