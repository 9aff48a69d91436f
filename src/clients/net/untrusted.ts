import { types } from 'node:util';

/** How containers' and models' text is cut before it stands in an error. */
const maxErrorBytes = 2_048;

/** Text of at most `maxBytes` in UTF-8, cut at a character and marked with an ellipsis. */
export function cutText(text: string, maxBytes = maxErrorBytes): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const ellipsis = '…';
  // A cut inside a character leaves U+FFFD at the end.
  const head = bytes.subarray(0, maxBytes - Buffer.byteLength(ellipsis)).toString();
  return `${head.replace(/\uFFFD$/, '')}${ellipsis}`;
}

/** A JSON object's fields, or null for anything else. */
export function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Own property by name: what a hostile answer puts on a prototype is not seen. */
export function field(value: unknown, name: string): unknown {
  const object = asObject(value);
  return object && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** JSON as it came, with nesting bounded: deeper parts become null, since serializing them would exhaust the stack. */
export function boundDepth(value: unknown, depth = 64): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((item) => boundDepth(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, boundDepth(item, depth - 1)]));
}

/** Text that should be a JSON object, or null when it is none. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    return asObject(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** An error's `code` (a system error's, undici's, SQLSTATE), '' without one; null for what is no error of any realm. */
export function errorCode(thrown: unknown): string | null {
  if (!(types.isNativeError(thrown) || thrown instanceof Error)) return null;
  return 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}
