/**
 * Which part of a graph's output is compared with which part of the gold output.
 *
 * - Both objects: the objects.
 * - The gold output an object, the output a text that is a JSON object (alone or in one fenced block): the objects.
 * - One of them an object and the other not: of the object its answer, which is its only field, else its field `answer`,
 *   else its field `output`, else the object as it is. Only one level is unwrapped.
 * - Otherwise both as they are.
 */
import { isObject, readJson } from './text.js';

/** An object's only field, else `answer`, else `output`; anything else as it is. */
export function answerOf(value: unknown): unknown {
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  const name = names.length === 1 ? names[0]! : ['answer', 'output'].find((field) => Object.hasOwn(value, field));
  return name === undefined ? value : value[name];
}

/** Gold output and output as they are compared. */
export function comparable(gold: unknown, output: unknown): { gold: unknown; output: unknown } {
  const read = isObject(gold) ? asObject(output) : output;
  if (isObject(gold) && isObject(read)) return { gold, output: read };
  return { gold: answerOf(gold), output: answerOf(output) };
}

/** A text that is a JSON object as that object; anything else as it is. */
export function asObject(value: unknown): unknown {
  const read = typeof value === 'string' ? readJson(value) : null;
  return read && isObject(read.value) ? read.value : value;
}
