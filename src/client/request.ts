/** Fills the path of an operation and adds its query; throws if an id is missing. */
export function urlOf(template: string, path: object = {}, query: object = {}): string {
  const values = new Map<string, unknown>(Object.entries(path));
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values.get(name) ?? '');
    // URLs drop dots alone, and would lead to another operation.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`path.${name} is no id: ${template} needs one.`);
    return encodeURIComponent(value);
  });
  const search = queryOf(query);
  return search === '' ? filled : `${filled}?${search}`;
}

/** A list is a repeated parameter, an object is JSON; absent values are left out. */
function queryOf(query: object): string {
  const pairs = Object.entries(query).flatMap(([name, value]: [string, unknown]) => {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values
      .filter((each) => each !== undefined && each !== null)
      .map((each): [string, string] => [name, textOf(each)]);
  });
  return new URLSearchParams(pairs).toString();
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A new Idempotency-Key. `crypto.randomUUID` is missing in pages without TLS. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
