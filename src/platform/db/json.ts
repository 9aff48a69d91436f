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

/** Whether jsonb may refuse a JSON text, such as a number with 20,000 digits behind its point. */
export function mayBeUnstorable(text: string): boolean {
  return mayEscapeUnstorable(text) || /(?<![\d.])\d[\d.]{999}|[:,[]\s?-?\d[\d.]{0,998}[eE][+-]?\d{4}/.test(text);
}

/** Whether a JSON text may escape NUL or a surrogate; others escape whole pairs too. */
function mayEscapeUnstorable(text: string): boolean {
  return text.includes('\\u') && /\\u(?:0000|d[89a-f])/i.test(text);
}
