/**
 * Values and texts as verifiers compare and show them.
 *
 * Invariants: nothing here fails on a value that JSON can hold, however deeply it is nested; what is shown can be stored
 * (no NUL, no half surrogate pair) and is no longer than its bound.
 */

/** Characters of a verification's feedback; as many as reflection shows. */
export const maxFeedback = 4_000;

/** Levels of nesting that are looked at; a request has at most 64. */
const deepest = 64;

export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: no list, not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text as it is compared: NFC, trimmed, every run of white space one space, in lower case unless `caseSensitive`. */
export function normalize(text: string, caseSensitive: boolean): string {
  const spaced = composed(text).replaceAll(/\s+/gu, ' ').trim();
  // A lower-case letter may have a composed form that its upper case lacks.
  return caseSensitive ? spaced : composed(spaced.toLowerCase());
}

/**
 * NFC, but for marks of which more than 30 follow each other: they stay as they are, since to put n in order takes n² steps. No letter
 * of any language has so many (30: Stream-Safe Text Format, UAX #15).
 */
function composed(text: string): string {
  const parts = text.split(/(\p{M}{31,})/u);
  return parts.map((part, at) => (at % 2 === 0 ? part.normalize('NFC') : part)).join('');
}

/**
 * A value as JSON that is the same for equal values: names sorted, no white space, every text within it passed through
 * `text`. What is nested deeper than a request can be becomes `…`, which is no JSON and so equals no gold output.
 */
export function canonical(value: unknown, text: (text: string) => string = (same) => same, depth = deepest): string {
  if (typeof value === 'string') return JSON.stringify(text(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (depth === 0) return '…';
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, text, depth - 1)).join(',')}]`;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field, text, depth - 1)}`).join(',')}}`;
}

/** A text as it is, anything else as canonical JSON. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : canonical(value);
}

/** What a text says in JSON, alone or within one fenced block; null: it is no JSON, or has several blocks. */
export function readJson(text: string): { value: unknown } | null {
  const parts = text.split(/^[ \t]*```[^\n`]*$/m);
  const inside = parts.length === 1 ? text : parts.length === 3 ? parts[1]! : null;
  if (inside === null) return null;
  try {
    return { value: JSON.parse(inside) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** At most `limit` characters, never ending inside one, and marked where something is left out. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const mark = ' […]';
  return `${text.slice(0, limit - mark.length).replace(/[\uD800-\uDBFF]$/, '')}${mark}`;
}

/** A value for people and for a proposer: cut, and without what cannot be stored. */
export function show(value: unknown, limit: number): string {
  if (value === undefined) return '(nothing)';
  const text = asText(value);
  return text.trim() === '' ? '(an empty text)' : storable(cut(text, limit));
}

/** A text without what Postgres cannot keep. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
