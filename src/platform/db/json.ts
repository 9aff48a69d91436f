/** JSON as JSON.stringify writes it: a surrogate is escaped only if it is alone. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * JSON for a jsonb column. Postgres refuses NUL and lone surrogates, so each becomes U+FFFD.
 * JSON.stringify always escapes them, so searching the escapes suffices.
 */
export function toJsonb(value: unknown): string {
  const text = value instanceof JsonText ? value.text : JSON.stringify(value);
  if (!mayEscapeUnstorable(text)) return text;
  return text.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gi, '$1\\ufffd');
}

/** Whether a JSON text may escape NUL or a surrogate; others escape whole pairs too. */
export function mayEscapeUnstorable(text: string): boolean {
  return text.includes('\\u') && /\\u(?:0000|d[89a-f])/i.test(text);
}
