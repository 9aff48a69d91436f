/** A value that is JSON already, from this process or another. */
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
  if (!text.includes('\\u')) return text;
  // Others' JSON may escape whole surrogate pairs too.
  const ours = value instanceof JsonText ? JSON.stringify(JSON.parse(text)) : text;
  return ours.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gi, '$1\\ufffd');
}
