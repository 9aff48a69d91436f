/**
 * What compiling a pattern of RE2 costs, read off its text in one pass: compiling is linear in the
 * instructions after repetitions, which a short text multiplies. Never below half of the truth.
 */

export interface PatternCost {
  /** Instructions with all repetitions written out. */
  instructions: number;
  /** Unicode classes, and ranges without case, whose members are counted out one by one. */
  classes: number;
}

/** Characters of a range without case that take as long as a class, and what the widest takes. */
const rangePerClass = 3_000;
const widestRange = 15;

/** Instructions that take as long as a class. */
const instructionsPerClass = 40;

/** Both costs of a pattern in instructions. */
export function patternWork(pattern: string, flags: string): number {
  const { instructions, classes } = patternCost(pattern, flags);
  return instructions + Math.ceil(instructionsPerClass * classes);
}

interface Frame {
  total: number;
  last: number;
}

const token =
  /\\Q[^]*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|.)|\\x\{[0-9a-fA-F]*\}|\\x[0-9a-fA-F]{2}|\\[0-7]{1,3}|\\[^]|\(\?[a-zA-Z-]*[:)]|\(\?P?<[^>]*>|\{\d+(?:,\d*)?\}|[^]/uy;
const unit = String.raw`\\x\{[0-9a-fA-F]*\}|\\x[0-9a-fA-F]{2}|\\[0-7]{1,3}|\\[^]|[^]`;
const inClass = new RegExp(String.raw`\[:\^?\w+:\]|\\[pP](?:\{[^}]*\}|.)|(${unit})(?:-(?!\])(${unit}))?`, 'uy');

export function patternCost(pattern: string, flags: string): PatternCost {
  const isFolded = flags.includes('i') || /\(\?[a-zA-Z]*i/.test(pattern);
  const frames: Frame[] = [{ total: 0, last: 0 }];
  let classes = 0;
  const add = (size: number) => {
    const frame = frames.at(-1)!;
    frame.total += size;
    frame.last = size;
  };
  for (let at = 0; at < pattern.length;) {
    token.lastIndex = at;
    const text = token.exec(pattern)?.[0] ?? pattern[at]!;
    at += text.length;
    if (text.startsWith('\\Q')) add(text.length);
    else if (/^\\[pP]/.test(text)) {
      classes += 1;
      add(1);
    } else if (text === '[') {
      const read = readClass(pattern, at, isFolded);
      at = read.end;
      classes += read.classes;
      add(1);
    } else if (/^\(\?[^:]*\)$/.test(text)) continue;
    else if (text.startsWith('(')) frames.push({ total: 2, last: 0 });
    else if (text === ')' && frames.length > 1) add(frames.pop()!.total);
    else repeat(frames.at(-1)!, text, add);
  }
  return { instructions: frames.reduce((sum, { total }) => sum + total, 0), classes };
}

function repeat(frame: Frame, text: string, add: (size: number) => void): void {
  const [, low, comma, high] = /^\{(\d+)(?:(,)(\d*))?\}$/.exec(text) ?? [];
  if (low === undefined) return add(1);
  // A copy that may be absent takes a branch of its own.
  const most = Math.max(1, Number(low), Number(high ?? 0));
  const size = most * frame.last + (comma === undefined ? 0 : most - Number(low) + 1);
  frame.total += size - frame.last;
  frame.last = size;
}

function readClass(pattern: string, start: number, isFolded: boolean): { end: number; classes: number } {
  let at = pattern[start] === '^' ? start + 1 : start;
  let classes = 0;
  // A bracket at the beginning stands for itself.
  for (let isFirst = true; at < pattern.length && (isFirst || pattern[at] !== ']'); isFirst = false) {
    inClass.lastIndex = at;
    const read = inClass.exec(pattern);
    if (!read) return { end: pattern.length, classes };
    at += read[0].length;
    const [, from, to] = read;
    if (from === undefined) classes += 1;
    else if (to !== undefined && isFolded)
      classes += Math.min(widestRange, Math.max(0, code(to) - code(from)) / rangePerClass);
  }
  return { end: at + 1, classes };
}

function code(text: string): number {
  const hex = /^\\x\{?([0-9a-fA-F]+)/.exec(text)?.[1];
  if (hex !== undefined) return parseInt(hex, 16);
  return /^\\[0-7]+$/.test(text)
    ? parseInt(text.slice(1), 8)
    : text.codePointAt(text.length > 1 ? text.length - 1 : 0)!;
}
