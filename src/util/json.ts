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

interface CanonicalOptions {
  /** Applied to every string, but not to names. */
  text?: (text: string) => string;
  /** Levels of nesting; deeper values become `…`, which is not JSON. */
  depth?: number;
}

/** JSON by RFC 8785: equal values give equal texts, whatever the order of their fields. */
export function canonicalJson(
  value: unknown,
  { text = (same) => same, depth = Infinity }: CanonicalOptions = {},
): string {
  const write = (inner: unknown, left: number): string => {
    if (typeof inner === 'string') return JSON.stringify(text(inner));
    // A number has one form in ECMAScript, which is that of RFC 8785.
    if (typeof inner !== 'object' || inner === null) return JSON.stringify(inner) ?? 'null';
    if (left === 0) return '…';
    if (Array.isArray(inner)) return `[${inner.map((item) => write(item, left - 1)).join()}]`;
    const fields = Object.entries(inner).filter(([, field]) => field !== undefined);
    // By UTF-16 code units, as `<` compares.
    fields.sort(([left], [right]) => (left < right ? -1 : 1));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${write(field, left - 1)}`).join()}}`;
  };
  return write(value, depth);
}
