/**
 * Reads lessons from examples with feedback. Expected answers are recognized by words such as
 * `Expected` and `should be`, among labels and quotes.
 */
import type { ReflectionExample } from '../core/proposals/reflection.js';
import { mentionFinder, offeredLabels, type Mention } from './labels.js';
import { readTask } from './task.js';
import { splitWords } from './words.js';

export type Example = Pick<ReflectionExample, 'input' | 'output' | 'feedback'>;

export interface Lesson {
  text: string;
  /** A label. */
  expected: string;
  /** The feedback's own words without its routine words. */
  explanation: string;
}

const expectation = /\b(?:expected|correct|right|true|gold|should (?:have been|be)|must be|belongs to)\b/i;
/** Words common in any feedback. */
const verdictWords = new Set(
  'wrong correct incorrect right expected expect answer answered answers label labels should instead belongs'.split(
    ' ',
  ),
);
const onItsLine = /^Expected: (.{1,200})$/m;
/** Lines of a scorer's feedback: labels of one common word are not mentions there. */
const answerLines = /^(?:Expected|Given): .{1,200}$/gm;
const quoted = /^[^`"'“\n]{0,40}[`"'“]([^`"'”\n]{1,80})[`"'”]/;

/** The lessons of the examples whose feedback names an expected label. */
export function readLessons(instruction: string, examples: readonly Example[]): Lesson[] {
  const tasks = examples.map(({ input }) => readTask(input));
  const offered = new Set([...tasks.flatMap(({ labels }) => labels), ...offeredLabels(instruction).labels]);
  const quotes = examples.flatMap(({ feedback }) => quotedExpectation(feedback) ?? []);
  const known = offered.size > 0 ? offered : new Set(quotes);
  const mentionsIn = mentionFinder([...known]);
  const lessons = examples.flatMap((example, at): Lesson[] => {
    const { text } = tasks[at]!;
    const stated = expectedAnswer(example.feedback);
    const isLabel = stated !== null && known.has(stated);
    const feedback = isLabel ? example.feedback.replaceAll(answerLines, '') : example.feedback;
    const mentions = mentionsIn(feedback);
    const expected = isLabel ? stated : expectedLabel(example, mentions, mentionsIn);
    if (expected === null) return [];
    return [{ text, expected, explanation: ownWords(feedback, mentions).replaceAll(text, ' ') }];
  });
  return withoutRoutine(lessons);
}

/** The expected answer in a feedback, quoted or on its own line; null: none. */
export function expectedAnswer(feedback: string): string | null {
  return quotedExpectation(feedback) ?? onItsLine.exec(feedback)?.[1]!.trim() ?? null;
}

function quotedExpectation(feedback: string): string | null {
  const match = expectation.exec(feedback);
  return match ? (quoted.exec(feedback.slice(match.index + match[0].length))?.[1] ?? null) : null;
}

/**
 * The label after `expected`, else the only other label in the feedback, else the answer if called
 * right.
 */
function expectedLabel(
  { output, feedback }: Example,
  mentions: Mention[],
  mentionsIn: (text: string) => Mention[],
): string | null {
  const match = expectation.exec(feedback);
  const behind = match && mentions.find(({ start }) => start > match.index);
  if (behind) return behind.label;
  const answered = mentionsIn(`"${output.trim().slice(0, 200)}"`)[0]?.label ?? null;
  const others = new Set(mentions.map(({ label }) => label).filter((label) => label !== answered));
  if (others.size > 0) return others.size === 1 ? [...others][0]! : null;
  return /\b(?:correct|right)\b/i.test(feedback) && !/\bnot (?:correct|right)\b/i.test(feedback) ? answered : null;
}

function ownWords(feedback: string, mentions: Mention[]): string {
  let from = 0;
  const pieces = mentions.map(({ start, end }) => {
    const piece = feedback.slice(from, start);
    from = end;
    return piece;
  });
  return [...pieces, feedback.slice(from)].join(' ');
}

/** Words in the feedback of at least half of the labels are routine and explain nothing. */
function withoutRoutine(lessons: Lesson[]): Lesson[] {
  const usedFor = new Map<string, Set<string>>();
  for (const { explanation, expected } of lessons) {
    for (const word of splitWords(explanation)) usedFor.set(word, (usedFor.get(word) ?? new Set()).add(expected));
  }
  const most = Math.max(1, new Set(lessons.map(({ expected }) => expected)).size / 2);
  return lessons.map(({ text, expected, explanation }) => {
    const telling = splitWords(explanation).filter(
      (word) => usedFor.get(word)!.size <= most && !verdictWords.has(word),
    );
    return { text, expected, explanation: telling.join(' ') };
  });
}
