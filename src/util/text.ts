const mark = ' […]';

/** Cuts a text after `limit` characters and adds a mark; never splits a surrogate pair. */
export function cutAfter(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '')}${mark}`;
}

/** A text without the characters of `ends` at its end; in linear time, unlike `/x+$/`. */
export function trimEndOf(text: string, ends: string): string {
  let length = text.length;
  while (length > 0 && ends.includes(text[length - 1]!)) length -= 1;
  return text.slice(0, length);
}

/** Cuts a text to `limit` characters, the mark included; never splits a surrogate pair. */
export function cutWithin(text: string, limit: number): string {
  return text.length <= limit ? text : cutAfter(text, limit - mark.length);
}

/** Cuts a text to `maxBytes` of UTF-8, the ellipsis included; never splits a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const ellipsis = '…';
  // A cut inside a character decodes to a final U+FFFD.
  const head = bytes.subarray(0, maxBytes - Buffer.byteLength(ellipsis)).toString();
  return `${head.replace(/\uFFFD$/, '')}${ellipsis}`;
}

/** A text that Postgres accepts: NUL and lone surrogates become U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** What changes the order of other characters, or ends a line. */
const reordering = '\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069';

/** A character that a terminal or a page obeys rather than shows. */
export const commanding = new RegExp(`[\\p{Cc}${reordering}]`, 'u');

const colour = String.raw`\u001b\[(?:[0-7]|2[0-9]|3[0-9]|9[0-7])?m`;
const unprintable = new RegExp(`${colour}|[^\\P{Cc}\\n\\t]|[${reordering}]`, 'gu');

/**
 * A text as a terminal may show it: what it would obey becomes U+FFFD, but tab and newline. Colours
 * stay, for texts with our own, and no code that hides text.
 */
export function printable(text: string): string {
  return text.replace(unprintable, (found) => (found.length > 1 ? found : '\uFFFD'));
}
