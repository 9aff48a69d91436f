/**
 * The task model's lookup in a passage of statements. A call looks up one thing: the first subject
 * in the question, and one statement about it, chosen like a label.
 */
import { classify } from './classify.js';
import { readGuidance } from './guidance.js';
import { mentionFinder } from './labels.js';
import { firstNamed, type Statement } from './statements.js';

/** Whether only the value is wanted; else the whole statement is the answer. */
const alone = /\b(?:alone|only|nothing (?:else|more)|no other words?)\b/i;

/** The answer to a question about a non-empty passage. */
export function lookUp(passage: readonly Statement[], asked: string, instruction: string): string {
  const subject = firstNamed(passage, asked);
  const statements = subject === null ? passage : passage.filter((statement) => statement.subject === subject);
  const attributes = [...new Set(statements.map(({ attribute }) => attribute))];
  const wanted =
    attributes.length === 1
      ? attributes[0]!
      : classify(asked, attributes, readGuidance(instruction, mentionFinder(attributes)));
  const found = statements.find(({ attribute }) => attribute === wanted)!;
  return alone.test(instruction) ? found.value : found.text;
}
