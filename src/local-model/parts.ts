/** Splits a message at blank lines into fields (`question: …`), passages and instructions. */
import { readStatements, type Statement } from './statements.js';

export interface Parts {
  passage: Statement[];
  /** The question: the fields besides the passage; else the other text. */
  asked: string;
  /** The text around the fields. */
  instruction: string;
}

const fieldHead = /^[\p{L}_][\p{L}\p{N}_]{0,30}(?: [\p{L}\p{N}_]{1,30})?:(?:[ \t]|\n|$)/u;
const maxLength = 100_000;

export function readParts(message: string): Parts {
  const passage: Statement[] = [];
  const asked: string[] = [];
  const others: string[] = [];
  for (const paragraph of message.slice(0, maxLength).split(/\n[ \t]*\n/)) {
    const text = paragraph.trim();
    const head = fieldHead.exec(text)?.[0] ?? '';
    const { statements, rest } = readStatements(text.slice(head.length));
    passage.push(...statements);
    if (rest !== '') (head === '' ? others : asked).push(rest.trim());
  }
  const instruction = others.join('\n\n');
  return { passage, asked: asked.length > 0 ? asked.join('\n') : instruction, instruction };
}
