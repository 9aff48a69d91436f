/**
 * `<lever name="plan">…</lever>`: marks of a container without templates around the texts that a
 * candidate replaces. Marks pair up like brackets; an unpaired mark is plain text.
 */
import { componentNamePattern } from '../../core/prompts/components.js';

/** Text between a pair of marks, without inner marks. */
export interface MarkedSpan {
  name: string;
  text: string;
}

/** A mark; `name` is null for a closing mark. */
interface Mark {
  start: number;
  end: number;
  name: string | null;
  /** End of the closing mark. */
  pairEnd: number;
}

const mark = new RegExp(`<lever name="(${componentNamePattern})">|</lever>`, 'g');

/** The outermost spans of a text, in order. */
export function readMarks(text: string): MarkedSpan[] {
  const spans: MarkedSpan[] = [];
  let end = 0;
  for (const { start, end: from, name, pairEnd } of marksOf(text)) {
    if (start < end || name === null) continue;
    end = pairEnd;
    spans.push({ name, text: replaceMarks(text.slice(from, pairEnd - '</lever>'.length), new Map()).text });
  }
  return spans;
}

/**
 * Removes the marks and replaces spans by new texts, verbatim: marks in a new text, and spans
 * inside a replaced span, are ignored. `found`: names of the replaced spans.
 */
export function replaceMarks(text: string, texts: ReadonlyMap<string, string>): { text: string; found: Set<string> } {
  const parts: string[] = [];
  const found = new Set<string>();
  let done = 0;
  for (const { start, end, name, pairEnd } of marksOf(text)) {
    if (start < done) continue;
    parts.push(text.slice(done, start));
    const replacement = name === null ? undefined : texts.get(name);
    done = replacement === undefined ? end : pairEnd;
    if (replacement === undefined) continue;
    parts.push(replacement);
    found.add(name!);
  }
  return { text: done === 0 ? text : parts.join('') + text.slice(done), found };
}

/** The marks of all pairs, in order. */
function marksOf(text: string): Mark[] {
  const paired: Mark[] = [];
  const open: Mark[] = [];
  for (const match of text.matchAll(mark)) {
    const end = match.index + match[0].length;
    const current: Mark = { start: match.index, end, name: match[1] ?? null, pairEnd: end };
    if (current.name !== null) {
      open.push(current);
      continue;
    }
    const opening = open.pop();
    if (!opening) continue;
    opening.pairEnd = end;
    paired.push(opening, current);
  }
  return paired.sort((left, right) => left.start - right.start);
}
