/**
 * JSON for a jsonb column. Postgres takes neither NUL nor half a surrogate pair, and containers and models send both:
 * each becomes U+FFFD. JSON.stringify writes exactly these as escapes, so the text is what is searched.
 */
export function toJsonb(value: unknown): string {
  return JSON.stringify(value).replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gi, '$1\\ufffd');
}

/** Text for a text column: no NUL, no half surrogate pair. */
export function toText(value: string): string {
  return value.toWellFormed().replaceAll('\0', '\ufffd');
}
