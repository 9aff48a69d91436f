import { quoteLongIntegers } from '../../util/exact-json.js';
import { types } from 'node:util';
import { asObject, exceedsJsonLimits, jsonLimits } from '../../util/json.js';
import { cutToBytes } from '../../util/text.js';

/** Limit of containers' and models' text in errors, in bytes. */
const maxErrorBytes = 2_048;

/** API keys in the forms of the providers, and bearer tokens. */
const keys = /\b(?:sk|rk|rip|gsk|xai|pplx|hf|csk)[-_][\w*.-]{3,}|\bAIza[\w*-]{3,}|\b(Bearer\s+)[^\s"',]{3,}/gi;

/** Hides keys in a provider's text: it can quote the key that it refuses. */
export function hideKeys(text: string): string {
  return text.replace(keys, (_key, before = '') => `${before}…`);
}

/** Cuts a container's or a model's text for an error message, without keys. */
export function cutErrorText(text: string, maxBytes = maxErrorBytes): string {
  // Keys are hidden in a little more than is shown, since an answer can have megabytes.
  return cutToBytes(hideKeys(text.slice(0, 4 * maxBytes)), maxBytes);
}

/** Own property by name; ignores a prototype set by a hostile answer. */
export function field(value: unknown, name: string): unknown {
  const object = asObject(value);
  return object && Object.hasOwn(object, name) ? object[name] : undefined;
}

const maxDepth = 64;

/** JSON with bounded nesting: deeper parts, which would exhaust the stack, become null. */
export function boundDepth(value: unknown, depth = maxDepth): unknown {
  return isDeeper(value, depth) ? cutBelow(value, depth) : value;
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((item) => isDeeper(item, depth - 1));
}

function cutBelow(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((item) => cutBelow(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutBelow(item, depth - 1)]));
}

/** `parseObject` with bounded nesting, for answers of models. */
export function parseBounded(text: string): Record<string, unknown> | null {
  return asObject(boundDepth(parseObject(text)));
}

/** A JSON text has more values or names than are parsed at once. */
export class TooManyValuesError extends Error {
  override readonly name = 'TooManyValuesError';
  constructor() {
    const [values, names] = [jsonLimits.values, jsonLimits.names].map((most) => most.toLocaleString('en'));
    super(`more than ${values} JSON values or ${names} different names`);
  }
}

/**
 * Parses a JSON object; null if the text is not one. Long whole numbers become texts. Throws a
 * TooManyValuesError.
 */
export function parseObject(text: string): Record<string, unknown> | null {
  if (exceedsJsonLimits(text)) throw new TooManyValuesError();
  try {
    return asObject(JSON.parse(quoteLongIntegers(text)));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** An error's `code` (system, undici, SQLSTATE) or ''; null: not an error of any realm. */
export function errorCode(thrown: unknown): string | null {
  if (!(types.isNativeError(thrown) || thrown instanceof Error)) return null;
  return 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}

/** The value of a header that should not be repeated. */
export function firstValue(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}
