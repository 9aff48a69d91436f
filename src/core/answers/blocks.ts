/**
 * Fenced blocks of a model's text: backticks or tildes, of any length, with or without a tag.
 * Invariants: blocks do not overlap; a block inside another belongs to its text. A fence with a tag
 * inside a block opens an inner block; so does one without behind a line that ends with a colon,
 * where all fences pair so. Another one without a tag closes the block.
 */
import { trimEndOf } from '../../util/text.js';

export interface Block {
  tag: string;
  text: string;
  /** Positions of the opening fence and behind the closing one. */
  start: number;
  end: number;
  isClosed: boolean;
}

interface Fence {
  mark: string;
  length: number;
  /** What follows an opening fence. */
  head: string;
  /** What stands before a fence at the end of its line. */
  before: string;
}

interface Line {
  text: string;
  start: number;
  end: number;
  fence: Fence | null;
}

const tagForm = /^[\w.+#-]*$/;

/** No answer has more: such a text has no blocks. */
const maxFences = 10_000;

export function blocksOf(text: string): Block[] {
  if (hasTooMany(text, '```') || hasTooMany(text, '~~~')) return [];
  const lines = linesOf(text);
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const opening = lines[at]!;
    if (!opening.fence || !canOpen(opening.fence)) continue;
    const closing = closingOf(lines, at);
    const last = lines[closing ?? lines.length - 1]!;
    const { head } = opening.fence;
    const hasTag = tagForm.test(head);
    const body: string[] = hasTag ? [] : [head];
    for (let line = at + 1; line < (closing ?? lines.length); line += 1) body.push(lines[line]!.text);
    if (closing !== null && last.fence!.before !== '') body.push(last.fence!.before);
    const text = body.join('\n');
    const tag = hasTag ? head.toLowerCase() : '';
    blocks.push({ tag, text, start: opening.start, end: last.end, isClosed: closing !== null });
    at = closing ?? lines.length;
  }
  return blocks;
}

function hasTooMany(text: string, fence: string): boolean {
  let count = 0;
  for (let at = text.indexOf(fence); at >= 0; at = text.indexOf(fence, at + fence.length)) {
    count += 1;
    if (count > maxFences) return true;
  }
  return false;
}

function linesOf(text: string): Line[] {
  let start = 0;
  return text.split('\n').map((raw) => {
    const text = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const line: Line = { text, start, end: start + raw.length, fence: fenceOf(text) };
    start = line.end + 1;
    return line;
  });
}

function fenceOf(line: string): Fence | null {
  if (!line.includes('```') && !line.includes('~~~')) return null;
  const leading = /^\s*(`{3,}(?!`)|~{3,}(?!~))(.*)$/.exec(line);
  if (leading) {
    const run = leading[1]!;
    const head = leading[2]!.trim();
    return head.includes('```') ? null : { mark: run[0]!, length: run.length, head, before: '' };
  }
  const trailing = /^(.*[^`])(`{3,})([ \t]*)$/.exec(line);
  if (!trailing || trailing[1]!.includes('```')) return null;
  return { mark: '`', length: trailing[2]!.length, head: '', before: trailing[1]!.trimEnd() };
}

/** Behind words only where they announce the block. */
function canOpen({ before }: Fence): boolean {
  return before === '' || before.endsWith(':');
}

/** The line of the fence that closes the block opened at `at`; null: none. */
function closingOf(lines: readonly Line[], at: number): number | null {
  const outer = lines[at]!.fence!;
  let inner = 0;
  for (let line = at + 1; line < lines.length; line += 1) {
    const { fence } = lines[line]!;
    if (!fence || fence.mark !== outer.mark || fence.length < outer.length) continue;
    if (fence.head !== '') inner += tagForm.test(fence.head) ? 1 : 0;
    else if (inner > 0) inner -= fence.before === '' ? 1 : 0;
    else if (fence.before === '' && opensInner(lines, line)) inner += 1;
    else return line;
  }
  return null;
}

/** Whether a fence opens an inner block: it is announced, and two more fences follow. */
function opensInner(lines: readonly Line[], at: number): boolean {
  if (!isAnnounced(lines, at)) return false;
  const next = nextFence(lines, at);
  // Words that announce another text stand between two blocks, not inside an inner one.
  if (next === null || isAnnounced(lines, next) || startsAnew(lines, at, next)) return false;
  return lines[next]!.fence!.head === '' && nextFence(lines, next) !== null;
}

function nextFence(lines: readonly Line[], at: number): number | null {
  const { mark, length } = lines[at]!.fence!;
  for (let line = at + 1; line < lines.length; line += 1) {
    const { fence } = lines[line]!;
    if (fence?.mark === mark && fence.length >= length && fence.before === '') return line;
  }
  return null;
}

function isAnnounced(lines: readonly Line[], at: number): boolean {
  let line = at - 1;
  while (line > 0 && lines[line]!.text.trim() === '') line -= 1;
  const text = (lines[line]?.text ?? '').trimEnd();
  return /[:：]$/.test(trimEndOf(text, '*').trimEnd());
}

const anew =
  /\b(?:final|revised|improved|shorter|better|instead|actually|hmm|wait|version|attempt|draft)\b|^\s*no[,.]/i;

function startsAnew(lines: readonly Line[], from: number, to: number): boolean {
  return lines.slice(from + 1, to).some(({ text }) => anew.test(text));
}
