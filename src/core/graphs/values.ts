/** The JSON values that go from step to step: how they are shown, compared and bounded. */
import { cutText } from '../prompts/quote.js';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** Of a value: characters of its texts and names plus one for each value in it; and how deep it may be nested. */
export const maxValueSize = 1_000_000;
const maxValueDepth = 50;

export function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** A value as it stands in a template: a text as it is, anything else as JSON. */
export function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A text by which two are the same: trimmed, white space (as in ECMAScript) collapsed, in lower case. */
export function normalText(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}

/** The same text for the same value: JSON by RFC 8785, with sorted names. With `normal`, texts within it are compared by `normalText`. */
export function canonical(value: Json, normal = false): string {
  if (typeof value === 'string') return JSON.stringify(normal ? normalText(value) : value);
  if (isList(value)) return `[${value.map((item) => canonical(item, normal)).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name]!, normal)}`).join()}}`;
}

/** What votes and conditions take for the same: texts, on whatever level, by `normalText`; all else exactly. */
export function keyOf(value: Json): string {
  return canonical(value, true);
}

/** Why a value is not taken, or null; costs no more than the limit, however much of a value is shared. */
export function sizeProblem(value: Json, limit = maxValueSize): string | null {
  let left = limit;
  const problemOf = (one: Json, depth: number): string | null => {
    left -= 1 + (typeof one === 'string' ? one.length : 0);
    if (left < 0) return `is larger than ${limit} characters`;
    if (typeof one !== 'object' || one === null) return null;
    if (depth === maxValueDepth) return `is nested deeper than ${maxValueDepth} levels`;
    const isNamed = isObject(one);
    const items = isNamed ? Object.values(one) : one;
    if (isNamed) for (const name of Object.keys(one)) left -= name.length;
    for (const item of items) {
      const problem = problemOf(item, depth + 1);
      if (problem !== null) return problem;
    }
    return null;
  };
  return problemOf(value, 0);
}

/** Whether a text or a name in a value has a NUL character, which Postgres does not store. */
export function hasNul(value: Json): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (isList(value)) return value.some(hasNul);
  return isObject(value) && Object.entries(value).some(([name, item]) => name.includes('\0') || hasNul(item));
}

/** What a value is, for messages: "a list of 3", "the text "abc"". */
export function described(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'string')
    return value === '' ? 'an empty text' : `the text ${JSON.stringify(cutText(value, 60))}`;
  if (isList(value)) return `a list of ${value.length}`;
  if (isObject(value)) return `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'nothing in it'}`;
  return typeof value === 'number' ? `the number ${value}` : String(value);
}
