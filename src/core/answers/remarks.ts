/**
 * What models write around a prompt beside its title: remarks behind it, and parts of the question
 * that they repeat. A line that the parent has too belongs to the prompt.
 */
import { withoutLastRule } from './titles.js';

/** The lines of the service's own question, which frame what it shows. */
export const questionLines = {
  given: 'An assistant was given this instruction for a task:',
  demand: '# What to do',
  example: (number: number) => `# Example ${number}`,
  form: 'Give the whole new instruction inside ``` fences, and nothing of it outside of them.',
} as const;

const text = String.raw`(?:(?:new|revised|updated|improved|rewritten|shorter|modified)\s+)*(?:instructions?|prompts?|version|revision)`;
const effect =
  'ensures?|should|will|helps?|addresses|clarifies|includes?|adds?|provides?|makes?|emphasizes|emphasises|now|takes|covers|specifies|keeps|incorporates|aims|explicitly';
const remark = new RegExp(
  String.raw`^[*_(]*(?:(?:note(?: that)?|explanation|rationale)(?:\s*:)?[\s*_]*)?(?:` +
    [
      String.raw`(?:this|the|these)\s+${text}\s+(?:${effect})\b`,
      String.raw`(?:this|that)\s+should\s+(?:help|work|improve|address|fix|make)\b`,
      String.raw`let me know\b`,
      String.raw`feel free to\b`,
      String.raw`i(?:['’]ve| have)? (?:hope|added|changed|removed|kept|made|clarified|rewrote|rewritten|included)\b`,
      String.raw`(?:by|with) (?:following|using) (?:this|these) ${text}\b`,
    ].join('|') +
    ')',
  'i',
);
/** Titles of a list of changes, below which only remarks follow. */
const changes =
  /^(?:#{1,6}\s+|[*_]{2,3})?(?:(?:key|main|summary of)\s+)?(?:changes|improvements|what (?:i )?changed|explanation of (?:the )?changes)(?:[^\S\n]+made)?(?:[^\S\n]*:)?[*_]{0,3}(?:[^\S\n]*:)?[^\S\n]*$/im;

/** A text without the remarks behind it. */
export function withoutRemarks(text: string, parent: string): string {
  const list = changes.exec(text);
  const isList = list !== null && list.index > 0 && text[list.index - 2] === '\n' && !changes.test(parent);
  let rest = isList ? text.slice(0, list.index).trimEnd() : text;
  for (;;) {
    const start = rest.lastIndexOf('\n') + 1;
    const last = rest.slice(start).trim();
    if (start === 0 || !remark.test(last) || parent.includes(last)) break;
    rest = rest.slice(0, start).trimEnd();
  }
  return rest === text ? text : withoutLastRule(rest).trimEnd();
}

const exampleStart = /^# Example \d+\n## Inputs$/m;
const anyHeading = /^#{1,6}\s/m;

/** A text without the lines of the question that it repeats. */
export function withoutEchoes(text: string, parent: string): string {
  let rest = text.trim();
  if (!exampleStart.test(parent)) {
    const at = rest.search(exampleStart);
    if (at > 0) rest = rest.slice(0, at).trimEnd();
  }
  for (const line of [questionLines.given, questionLines.demand]) {
    const isFirst = rest.startsWith(`${line}\n`) && !parent.includes(line);
    const behind = rest.slice(line.length).trim();
    // The first of several headings belongs to the text.
    if (isFirst && (line !== questionLines.demand || !anyHeading.test(behind))) rest = behind;
  }
  const { form } = questionLines;
  return rest.endsWith(`\n${form}`) && !parent.includes(form) ? rest.slice(0, -form.length).trimEnd() : rest;
}
