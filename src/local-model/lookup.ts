/**
 * The task model's one look into a passage of statements. A call looks up one thing: of what is asked the thing named first, and of
 * what the passage says of it one statement, chosen like a label. What else the passage says of the value that is found takes
 * another call.
 */
import { classify } from './classify.js';
import { readGuidance } from './guidance.js';
import { mentionFinder } from './labels.js';
import { firstNamed, type Statement } from './statements.js';

/** Asks for the value alone; else the whole statement is the answer. */
const alone = /\b(?:alone|only|nothing (?:else|more)|no other words?)\b/i;

/** The answer to what is asked of a passage that is not empty. */
export function lookUp(passage: readonly Statement[], asked: string, instruction: string): string {
  const subject = firstNamed(passage, asked);
  const said = subject === null ? passage : passage.filter((one) => one.subject === subject);
  const attributes = [...new Set(said.map(({ attribute }) => attribute))];
  const wanted =
    attributes.length === 1
      ? attributes[0]!
      : classify(asked, attributes, readGuidance(instruction, mentionFinder(attributes)));
  const found = said.find(({ attribute }) => attribute === wanted)!;
  return alone.test(instruction) ? found.value : found.text;
}
