/**
 * Text forms of JSON values. Invariants: no function fails on a JSON value, whatever its depth;
 * displayed text can be stored (no NUL, no lone surrogate) and respects its length limit.
 */
import { canonicalJson } from '../../util/json.js';
import { cutWithin, storableText } from '../../util/text.js';

/** Maximum characters of a verification's feedback; the reflection prompt shows as many. */
export const maxFeedback = 4_000;

/** Maximum depth compared; requests are at most 64 levels deep. */
const maxDepth = 64;

export type JsonObject = Readonly<Record<string, unknown>>;

/** NFC, trimmed, white space collapsed, lower case unless `caseSensitive`. */
export function normalize(text: string, caseSensitive: boolean): string {
  const spaced = toNfc(text)
    .replaceAll(/\s{2,}|[^\S ]/gu, ' ')
    .trim();
  // A lower-case letter may have a composed form that its upper case lacks.
  return caseSensitive ? spaced : toNfc(spaced.toLowerCase());
}

/**
 * NFC, except for runs of more than 30 combining marks: sorting n marks takes n² steps, and no
 * language needs more (Stream-Safe Text Format, UAX #15).
 */
function toNfc(text: string): string {
  const parts = text.split(/(\p{M}{31,})/u);
  return parts.map((part, at) => (at % 2 === 0 ? part.normalize('NFC') : part)).join('');
}

/** Canonical JSON; deeper values than a request allows become `…`, and equal no gold output. */
export function canonical(value: unknown, text?: (text: string) => string): string {
  return canonicalJson(value, { depth: maxDepth, ...(text && { text }) });
}

/** A text unchanged, other values as JSON in the order of their fields. */
export function shownText(value: unknown): string {
  return typeof value === 'string' ? value : canonicalJson(value, { depth: maxDepth, inOrder: true });
}

/** A text unchanged, other values as canonical JSON, to compare. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : canonical(value);
}

export function show(value: unknown, limit: number): string {
  if (value === undefined) return '(nothing)';
  const text = shownText(value);
  return text.trim() === '' ? '(an empty text)' : storableText(cutWithin(text, limit));
}
