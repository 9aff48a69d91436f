/** Whether one text stands in another as a whole. */
import { occurrencesOf } from '../prompts/occurrences.js';

/** Marks belong to the letter before them. */
const inWord = /[\p{L}\p{N}\p{M}_]/u;
// In these no space is put between words, or endings are joined on.
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * Whether `part`, which is not empty, stands in `text` so that neither of its ends lies within a word (`cat` is not in
 * `concatenate`) or within a number (`5` is not in `15`, `2.5` or `5,000`). Scripts without spaces between words have no
 * such ends: there any place will do. Both texts are normalized alike.
 */
export function standsIn(part: string, text: string): boolean {
  for (const at of occurrencesOf(part, text)) {
    // Three code units: a decimal point and a whole character on each side.
    const before = text.slice(Math.max(0, at - 3), at);
    const after = text.slice(at + part.length, at + part.length + 3);
    if (!isJoined(before, part.slice(0, 3)) && !isJoined(part.slice(-3), after)) return true;
  }
  return false;
}

/** Whether a word or a number goes on from one text to the next. */
function isJoined(left: string, right: string): boolean {
  if (/\d$/.test(left) && /^[.,]\d/.test(right)) return true;
  if (/\d[.,]$/.test(left) && /^\d/.test(right)) return true;
  const [last, first] = [[...left].at(-1) ?? '', [...right][0] ?? ''];
  return inWord.test(last) && inWord.test(first) && !unspaced.test(last) && !unspaced.test(first);
}
