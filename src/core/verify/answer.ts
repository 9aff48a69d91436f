/**
 * Selects the parts of a graph's output and of its gold output that are compared:
 *
 * - Both are objects: the objects.
 * - The gold output is an object and the output is the text of a JSON object (alone or in one
 *   fenced block): both objects.
 * - Only one of them is an object: that object's answer, which is its only field, else `answer`,
 *   else `output`, else the object itself. Only one level is unwrapped.
 * - Otherwise: both values unchanged.
 */
import { isObject } from '../../util/json.js';
import { readJson } from './text.js';

/** Returns an object's only field, else `answer`, else `output`; returns other values unchanged. */
export function unwrapAnswer(value: unknown): unknown {
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  const name = names.length === 1 ? names[0]! : ['answer', 'output'].find((field) => Object.hasOwn(value, field));
  return name === undefined ? value : value[name];
}

/** Returns the parts of both values that are compared. */
export function comparableParts(gold: unknown, output: unknown): { gold: unknown; output: unknown } {
  const read = isObject(gold) ? parseIfObject(output) : output;
  if (isObject(gold) && isObject(read)) return { gold, output: read };
  return { gold: unwrapAnswer(gold), output: unwrapAnswer(output) };
}

/** Parses a text that holds a JSON object; returns other values unchanged. */
export function parseIfObject(value: unknown): unknown {
  const read = typeof value === 'string' ? readJson(value) : null;
  return read && isObject(read.value) ? read.value : value;
}
