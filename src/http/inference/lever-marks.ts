/**
 * `<lever name="plan">…</lever>`: how a container without templates marks in its own texts what a candidate has texts for. Marks
 * pair up like brackets; half a pair is text like any other.
 */
import { componentNamePattern } from '../../core/prompts/components.js';

/** What stands between a pair of marks, the marks within it taken out. */
export interface MarkedSpan {
  name: string;
  text: string;
}

/** One mark of a pair; `name` is null for a closing one. */
interface Mark {
  start: number;
  end: number;
  name: string | null;
  /** Where the pair's closing mark ends. */
  pairEnd: number;
}

const mark = new RegExp(`<lever name="(${componentNamePattern})">|</lever>`, 'g');

/** The spans of a text that are within no other, in order. */
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
 * The text without its marks, each span that there is a new text for replaced by it, to the letter: marks in a new text are
 * not looked at. Within a span that is replaced nothing else is. `found`: the names of the replaced spans.
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

/** Both marks of every pair, in order. */
function marksOf(text: string): Mark[] {
  const paired: Mark[] = [];
  const open: Mark[] = [];
  for (const match of text.matchAll(mark)) {
    const end = match.index + match[0].length;
    const one: Mark = { start: match.index, end, name: match[1] ?? null, pairEnd: end };
    if (one.name !== null) {
      open.push(one);
      continue;
    }
    const opening = open.pop();
    if (!opening) continue;
    opening.pairEnd = end;
    paired.push(opening, one);
  }
  return paired.sort((left, right) => left.start - right.start);
}
