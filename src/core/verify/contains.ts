/** Matches whole words and numbers within a text. */
import { findOccurrences } from '../prompts/occurrences.js';

/** Combining marks belong to the letter before them. */
const inWord = /[\p{L}\p{N}\p{M}_]/u;
/** Scripts that put no space between words, or that append endings to words. */
export const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * Whether `text` contains `part` with no end inside a word (`cat`, `concatenate`) or a number (`5`,
 * `5,000`). In scripts without spaces any position matches. Requires texts normalized alike.
 */
export function containsWhole(part: string, text: string): boolean {
  for (const at of findOccurrences(part, text)) {
    // Three code units hold a decimal point and one whole character.
    const before = text.slice(Math.max(0, at - 3), at);
    const after = text.slice(at + part.length, at + part.length + 3);
    if (!isJoined(before, part.slice(0, 3)) && !isJoined(part.slice(-3), after)) return true;
  }
  return false;
}

/** Whether a word or a number continues from one text to the next. */
function isJoined(left: string, right: string): boolean {
  if (/\d$/.test(left) && /^[.,]\d/.test(right)) return true;
  if (/\d[.,]$/.test(left) && /^\d/.test(right)) return true;
  const [last, first] = [[...left].at(-1) ?? '', [...right][0] ?? ''];
  return inWord.test(last) && inWord.test(first) && !unspaced.test(last) && !unspaced.test(first);
}
