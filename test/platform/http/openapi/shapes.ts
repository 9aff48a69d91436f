/** Shapes: the names and types of a value's fields, without the values. */
import { isObject } from '../../../../src/util/json.js';
import { parseStream } from './event-streams.js';
import { mapAnswers } from './normal.js';
import type { Example } from './recorder.js';

/** The shapes of an example's answers, and its request as it is. */
export function shapesOf({ responses, ...given }: Example): object {
  const shape = (value: unknown, type: string) =>
    shapeOf(type === 'text/event-stream' ? parseStream(value as string) : value);
  return { ...given, responses: mapAnswers(responses, shape) };
}

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = new Map(value.map(shapeOf).map((shape) => [JSON.stringify(shape), shape]));
    return [...items].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, shape]) => shape);
  }
  if (!isObject(value)) return value === null ? 'null' : typeof value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, shapeOf(value[name])]),
  );
}
