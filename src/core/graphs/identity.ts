/** The identity of a graph. */
import { canonicalJson, isObject } from '../../util/json.js';
import type { Graph } from './graph.js';

/** Equal for equal graphs; the order of inputs and of a schema's properties counts. */
export function graphIdentity(graph: Graph): string {
  const ordered = JSON.stringify(graph, (name, value: unknown) => {
    if (name === 'schema') return JSON.stringify(value);
    return name === 'inputs' && isObject(value) ? Object.entries(value) : value;
  });
  return canonicalJson(JSON.parse(ordered));
}
