/**
 * Selects the parts of a graph's output and of its gold output that are compared:
 *
 * - Both are objects, or the gold output is one and the output is its JSON text: the objects.
 * - Only one of them is an object: its answer (its only field, else `answer`, else `output`, else
 * the object; one level only).
 * - Otherwise: both values unchanged.
 */
import { isObject } from '../../util/json.js';
import { quoteLongIntegers } from '../../util/exact-json.js';
import { readJson } from '../answers/json.js';

/** An object's only field, else `answer`, else `output`; other values unchanged. */
export function unwrapAnswer(value: unknown): unknown {
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  const name = names.length === 1 ? names[0]! : ['answer', 'output'].find((field) => Object.hasOwn(value, field));
  return name === undefined ? value : value[name];
}

export function comparableParts(gold: unknown, output: unknown): { gold: unknown; output: unknown } {
  const read = isObject(gold) ? parseIfObject(output) : output;
  if (isObject(gold) && isObject(read)) return { gold, output: read };
  return { gold: unwrapAnswer(gold), output: unwrapAnswer(output) };
}

/** The object of a JSON text; other values unchanged. */
export function parseIfObject(value: unknown): unknown {
  const read = typeof value === 'string' ? readJson(quoteLongIntegers(value), isObject) : null;
  return read ? read.value : value;
}
