/** What models put around a whole text: quotation marks, tags, fences, assignments. */
import { blocksOf } from './blocks.js';

const quotes: readonly (readonly [string, string])[] = [
  ['"""', '"""'],
  ["'''", "'''"],
  ['**', '**'],
  ['"', '"'],
  ['“', '”'],
  ['‘', '’'],
  ['«', '»'],
  ['„', '“'],
  ['„', '”'],
  ['「', '」'],
  ["'", "'"],
  ['`', '`'],
];

/** The text in one of the wrappings; null: none is around the whole text. */
export function inWrapping(text: string): string | null {
  return quoted(text) ?? lineQuoted(text) ?? tagged(text) ?? fenced(text) ?? assigned(text);
}

function quoted(text: string): string | null {
  for (const [open, close] of quotes) {
    if (text.length <= open.length + close.length || !text.startsWith(open) || !text.endsWith(close)) continue;
    const inner = text.slice(open.length, -close.length);
    if (!(inner.includes(open) || inner.includes(close)) || isAround(open, inner)) return inner;
  }
  return null;
}

/** Whether the mark before a text still is open at its next one: that opens a quotation inside. */
function isAround(mark: string, inner: string): boolean {
  if (mark === "'") return /\w'\w/.test(inner) && !/\w'(?!\w)/.test(inner);
  return mark === '"' && /^[^"]*[\s([{:=]"|^"\w|^[{[]"/.test(inner);
}

/** A text without the marks of a quotation before all of its lines. */
export function lineQuoted(text: string): string | null {
  const lines = text.trim().split('\n');
  const isQuoted = lines[0]!.startsWith('>') && lines.every((line) => line.startsWith('>') || line.trim() === '');
  return isQuoted ? lines.map((line) => line.replace(/^>[ \t]?/, '')).join('\n') : null;
}

export const textTags = String.raw`(?:(?:new|improved|revised|updated|final|optimized|better|rewritten|proposed|system)[_-]?)*(?:prompt|instructions?)`;
const tagNames = `${textTags}|answer|output|response|result|text|tool_call`;
const wholeTag = new RegExp(String.raw`^<(${tagNames})(?:\s[^<>]*)?>([\s\S]*)<\/\1>$`, 'i');

export function tagged(text: string, nested = 1): string | null {
  const [, name = '', inner = ''] = wholeTag.exec(text) ?? [];
  if (name === '') return null;
  const isAround = !inner.includes(`</${name}>`) || (nested > 0 && tagged(inner.trim(), nested - 1) !== null);
  return isAround ? inner : null;
}

/** The text of an assignment or of a printed text, as in Python. */
function assigned(text: string): string | null {
  const assignment = /^\w+\s*=\s*(?:[fr]?("{3}|'{3}|["'])([\s\S]+)\1|(\{[\s\S]*\}))$/.exec(text);
  return assignment?.[2] ?? assignment?.[3] ?? /^print\(("{3}|'{3}|["'])([\s\S]+)\1\)$/.exec(text)?.[2] ?? null;
}

/** Tags of fences around a text as a whole; others are a part of it, such as an example. */
const tagsOfWhole = /^(|markdown|md|text|txt|prompt|plaintext|json)$/;

function fenced(text: string): string | null {
  const [only] = blocksOf(text);
  const isWhole = only?.isClosed && only.start === 0 && only.end === text.length;
  return isWhole && tagsOfWhole.test(only.tag) ? only.text : null;
}
