import { isObject } from '../../../src/util/json.js';
import type { Document } from './recorder.js';

/** The document without what differs between equal services: examples, version, servers. */
export function wireOf(document: Document): unknown {
  const { info, servers: _, ...wire } = document as Document & { info: object; servers: unknown };
  return without({ ...wire, info: { ...info, version: '' } });
}

/** Drops examples; a field of that name has a schema of its own, not a value. */
function without(value: unknown, isFields = false): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([name]) => isFields || !/^examples?$/.test(name));
  return Object.fromEntries(entries.map(([name, part]) => [name, without(part, name === 'properties')]));
}
