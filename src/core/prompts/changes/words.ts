/** What changes inside a text, word by word. */
import { matchRows } from '../match.js';

export interface WordPiece {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** A letter of a script that writes words without spaces, which is a word here. */
const unspaced = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*`;
const word = String.raw`${unspaced}|(?:(?!${unspaced})[\p{L}\p{M}\p{N}_])+`;
const tokens = new RegExp(String.raw`\s+|${word}|[^\s\p{L}\p{M}\p{N}_]`, 'gu');
const words = new RegExp(word, 'gu');

const tokensOf = (text: string): string[] => text.match(tokens) ?? [];

/**
 * The words of both texts in one. Without the added pieces they join to `before`, without the
 * removed ones to `after`.
 */
export function wordPieces(before: string, after: string): WordPiece[] {
  const [old, now] = [tokensOf(before), tokensOf(after)];
  const partner = matchRows(old, now);
  const pieces: WordPiece[] = [];
  const add = (kind: WordPiece['kind'], text: string) => {
    const last = pieces.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text !== '') pieces.push({ kind, text });
  };
  let next = 0;
  for (const [to, from] of partner.entries()) {
    if (from < 0) continue;
    add('removed', old.slice(next, from).join(''));
    add('added', unmatchedBefore(now, partner, to));
    add('same', old[from]!);
    next = from + 1;
  }
  add('removed', old.slice(next).join(''));
  add('added', unmatchedBefore(now, partner, now.length));
  return pieces;
}

function unmatchedBefore(now: readonly string[], partner: readonly number[], end: number): string {
  let from = end;
  while (from > 0 && partner[from - 1]! < 0) from -= 1;
  return now.slice(from, end).join('');
}

/** The share of words, in both texts together, that they have in common: 0 to 1. */
export function commonShare(one: string, other: string): number {
  const [a, b] = [wordsOf(one), wordsOf(other)];
  if (a.length + b.length === 0) return 1;
  const counts = new Map<string, number>();
  for (const word of a) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of b) {
    const left = counts.get(word) ?? 0;
    if (left === 0) continue;
    counts.set(word, left - 1);
    common += 1;
  }
  return (2 * common) / (a.length + b.length);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(words) ?? [];
