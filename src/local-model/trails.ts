/** Lookup paths: chains of statements from a question to its expected answer. */
import { expectedAnswer, type Example, type Lesson } from './lessons.js';
import { readParts, type Parts } from './parts.js';
import { indexOfName, spaced, type Statement } from './statements.js';
import { splitWords } from './words.js';

export interface Trail {
  passage: Statement[];
  asked: string;
  expected: string;
  /** Chains statements from a subject in the question to its value, and so on. */
  statements: Statement[];
  /** Words of names in the passage: specific to one task. */
  names: Set<string>;
}

const longest = 5;

/** The shortest trail of an example; null: no expected answer, or no path. */
export function readTrail({ input, feedback }: Example): Trail | null {
  const expected = expectedAnswer(feedback);
  if (expected === null) return null;
  const { passage, asked } = inputParts(input);
  const statements = leadingTo(expected, passage, spaced(asked));
  if (statements === null) return null;
  const names = new Set(passage.flatMap(({ subject, value }) => splitWords(`${subject} ${value}`)));
  return { passage, asked, expected, statements, names };
}

/** Lessons of a trail: for each lookup the question without names, and the wanted attribute. */
export function trailLessons({ asked, statements, names }: Trail): Lesson[] {
  const text = splitWords(asked)
    .filter((word) => !names.has(word))
    .join(' ');
  return statements.map(({ attribute }) => ({ text, expected: attribute, explanation: '' }));
}

/** A task's input: an object of texts in JSON, or a text. */
function inputParts(input: string): Parts {
  const fields = jsonFields(input);
  const message = fields?.map(([name, value]) => `${name}: ${value}`).join('\n\n');
  return readParts(message ?? input);
}

/** The fields of an input that is a JSON object of texts; else null. */
function jsonFields(input: string): [name: string, value: string][] | null {
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
  for (const statement of passage) {
    const value = spaced(statement.value);
    byValue.set(value, [...(byValue.get(value) ?? []), statement]);
  }
  let trails = (byValue.get(spaced(expected)) ?? []).map((last) => [last]);
  const seen = new Set<string>();
  for (let length = 1; length <= longest; length += 1) {
    const found = trails.find(([first]) => indexOfName(first!.subject, asked) >= 0);
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
