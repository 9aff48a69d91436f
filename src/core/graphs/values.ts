/** JSON values passed between steps: display, equivalence and size limits. */
import { canonicalJson, isObject } from '../../util/json.js';
import { cutAfter } from '../../util/text.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** Maximum size of a value: characters of its texts and names plus one for each value in it. */
export const maxValueSize = 1_000_000;
const maxValueDepth = 50;

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** A value in a template: texts unchanged, others as JSON. */
export function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** As `toText`; an object with a single text field gives that text. */
export function displayText(value: Json): string {
  const [only, ...others] = isObject(value) ? Object.values(value) : [];
  return typeof only === 'string' && others.length === 0 ? only : toText(value);
}

/** Whether a value holds nothing but white space. */
export function isBlank(value: Json): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (isList(value)) return value.every(isBlank);
  return value === null || (isObject(value) && Object.values(value).every(isBlank));
}

/** Normal form for equivalence: trimmed, white space (as in ECMAScript) collapsed, lower case. */
export function normalizeText(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}

/** Key for votes and conditions: texts normalized at any level, all else exact. */
export function equivalenceKey(value: Json): string {
  return canonicalJson(value, { text: normalizeText });
}

/** Why a value is too large, or null. Stops at the limit, however much of a value is shared. */
export function sizeProblem(value: Json, limit = maxValueSize): string | null {
  let left = limit;
  const problemOf = (part: Json, depth: number): string | null => {
    left -= 1 + (typeof part === 'string' ? part.length : 0);
    if (left < 0) return `is larger than ${limit} characters`;
    if (typeof part !== 'object' || part === null) return null;
    if (depth === maxValueDepth) return `is nested deeper than ${maxValueDepth} levels`;
    const isNamed = isObject(part);
    const items = isNamed ? Object.values(part) : part;
    if (isNamed) for (const name of Object.keys(part)) left -= name.length;
    for (const item of items) {
      const problem = problemOf(item, depth + 1);
      if (problem !== null) return problem;
    }
    return null;
  };
  return problemOf(value, 0);
}

/** Whether a text or name in a value contains NUL, which Postgres cannot store. */
export function hasNul(value: Json): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (isList(value)) return value.some(hasNul);
  return isObject(value) && Object.entries(value).some(([name, item]) => name.includes('\0') || hasNul(item));
}

/** Describes a value in messages: `a list of 3`, `the text "abc"`. */
export function describeValue(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'string')
    return value === '' ? 'an empty text' : `the text ${JSON.stringify(cutAfter(value, 60))}`;
  if (isList(value)) return `a list of ${value.length}`;
  if (isObject(value)) return `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'nothing in it'}`;
  return typeof value === 'number' ? `the number ${value}` : String(value);
}
