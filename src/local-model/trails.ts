/** How an expected answer could have been looked up: the statements that lead from what is asked to it, one a look. */
import { expectedAnswer, type Lesson } from './lessons.js';
import { readParts, type Parts } from './parts.js';
import type { ShownExample } from './reflection.js';
import { placeOf, spaced, type Statement } from './statements.js';
import { wordsOf } from './words.js';

export interface Trail {
  passage: Statement[];
  asked: string;
  expected: string;
  /** The first is of something that is named in what is asked, each other of the value before it, and the last has the answer. */
  statements: Statement[];
  /** Words of what the passage names: they belong to one task and teach nothing. */
  names: Set<string>;
}

const longest = 5;

/** The shortest trail of an example, or null: its feedback names no answer, or nothing leads to it. */
export function readTrail({ input, feedback }: Pick<ShownExample, 'input' | 'feedback'>): Trail | null {
  const expected = expectedAnswer(feedback);
  if (expected === null) return null;
  const { passage, asked } = partsOfInput(input);
  const statements = leadingTo(expected, passage, spaced(asked));
  if (statements === null) return null;
  const names = new Set(passage.flatMap(({ subject, value }) => wordsOf(`${subject} ${value}`)));
  return { passage, asked, expected, statements, names };
}

/** What a trail teaches: for each look what was asked, without the names in it, and the attribute that was wanted. */
export function lessonsOf({ asked, statements, names }: Trail): Lesson[] {
  const text = wordsOf(asked)
    .filter((word) => !names.has(word))
    .join(' ');
  return statements.map(({ attribute }) => ({ text, expected: attribute, explanation: '' }));
}

/** A task's input as it is shown: an object of texts in JSON, or a text. */
function partsOfInput(input: string): Parts {
  const fields = fieldsOf(input);
  const message = fields?.map(([name, value]) => `${name}: ${value}`).join('\n\n');
  return readParts(message ?? input);
}

/** The texts of an input that is an object in JSON, by field; null where it is none. */
export function fieldsOf(input: string): [name: string, value: string][] | null {
  if (!input.startsWith('{')) return null;
  try {
    const fields = Object.entries(JSON.parse(input) as object);
    return fields.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function leadingTo(expected: string, passage: readonly Statement[], asked: string): Statement[] | null {
  const byValue = new Map<string, Statement[]>();
  for (const one of passage) byValue.set(spaced(one.value), [...(byValue.get(spaced(one.value)) ?? []), one]);
  let trails = (byValue.get(spaced(expected)) ?? []).map((last) => [last]);
  const seen = new Set<string>();
  for (let length = 1; length <= longest; length += 1) {
    const found = trails.find(([first]) => placeOf(first!.subject, asked) >= 0);
    if (found) return found;
    trails = trails.flatMap((trail) => {
      const subject = spaced(trail[0]!.subject);
      if (seen.has(subject)) return [];
      seen.add(subject);
      return (byValue.get(subject) ?? []).map((before) => [before, ...trail]);
    });
  }
  return null;
}
