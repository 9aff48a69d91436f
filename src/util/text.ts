import { asObject } from './json.js';

const mark = ' […]';

/** Cuts a text after `limit` characters and adds a mark; never splits a surrogate pair. */
export function cutAfter(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '')}${mark}`;
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

/**
 * A text as a terminal may show it: control characters but tab and newline become U+FFFD. Colours
 * stay, for texts with our own.
 */
export function printable(text: string): string {
  return text.replace(/\u001b\[[\d;]*m|[^\P{Cc}\n\t]/gu, (found) => (found.length > 1 ? found : '\uFFFD'));
}

/** Text of a message or delta; '' without content (a model that spent all tokens on thinking). */
export function textOfContent(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  const parts = content.map((part: unknown) => asObject(part)?.['text']);
  return parts.filter((part) => typeof part === 'string').join('');
}
