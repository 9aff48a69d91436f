/** The objects among the values of a type. */
type ObjectOf<T> = unknown extends T ? T & Record<string, unknown> : Extract<T, { readonly [name: string]: unknown }>;

/** Whether a value is a JSON object: neither a list nor null. */
export function isObject<T>(value: T): value is ObjectOf<T> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value that is a JSON object; null for any other. */
export function asObject(value: unknown): Record<string, unknown> | null {
  return isObject(value) ? value : null;
}

const [quote, backslash, colon, comma, bracket, brace] = [...'"\\:,[{'].map((char) => char.charCodeAt(0));

/** Of JSON texts from others: parsing, checking and hashing one takes less than 0.2 s each. */
export const jsonLimits = { values: 250_000, names: 20_000 } as const;

/** Whether a JSON text has too many values or different names. Much faster than parsing it. */
export function exceedsJsonLimits(text: string, { values, names }: Limits = jsonLimits): boolean {
  // A value takes two characters, with its comma or bracket.
  if (text.length <= 2 * values) return false;
  const seen = new Set<string>();
  let count = 0;
  let start = 0;
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      start = at + 1;
      at = end = endOfString(text, at);
    } else if (code === colon) seen.add(text.slice(start, end));
    else if (code === comma || code === bracket || code === brace) count += 1;
    if (count > values || seen.size > names) return true;
  }
  return false;
}
type Limits = Record<keyof typeof jsonLimits, number>;

/** Position of the quote that ends the string at `start`; of the text's end if there is none. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

interface CanonicalOptions {
  /** Applied to every string, but not to names. */
  text?: (text: string) => string;
  /** Levels of nesting; deeper values become `…`, which is not JSON. */
  depth?: number;
  /** Fields in their own order: for people and models, not for comparisons. */
  inOrder?: boolean;
}

/** JSON by RFC 8785: equal values give equal texts, whatever the order of their fields. */
export function canonicalJson(
  value: unknown,
  { text = (same) => same, depth = Infinity, inOrder = false }: CanonicalOptions = {},
): string {
  const write = (inner: unknown, left: number): string => {
    if (typeof inner === 'string') return JSON.stringify(text(inner));
    // A number has one form in ECMAScript, which is that of RFC 8785.
    if (typeof inner !== 'object' || inner === null) return JSON.stringify(inner) ?? 'null';
    if (left === 0) return '…';
    if (Array.isArray(inner)) return `[${inner.map((item) => write(item, left - 1)).join()}]`;
    const fields = Object.entries(inner).filter(([, field]) => field !== undefined);
    // By UTF-16 code units, as `<` compares.
    if (!inOrder) fields.sort(([left], [right]) => (left < right ? -1 : 1));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${write(field, left - 1)}`).join()}}`;
  };
  return write(value, depth);
}
