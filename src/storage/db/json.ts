/**
 * JSON for a jsonb column. Postgres refuses NUL and lone surrogates, so each becomes U+FFFD.
 * JSON.stringify always escapes them, so searching the escapes suffices.
 */
export function toJsonb(value: unknown): string {
  return JSON.stringify(value).replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gi, '$1\\ufffd');
}
