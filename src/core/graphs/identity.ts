/** The identity of a graph. */
import type { Graph } from './graph.js';
import { canonical, type Json } from './values.js';

/**
 * A text that is equal for equal graphs. The order of a step's inputs and of a schema's properties
 * counts; the order of other fields does not.
 */
export function graphIdentity(graph: Graph): string {
  const ordered = JSON.stringify(graph, (name, value: unknown) => {
    if (name === 'schema') return JSON.stringify(value);
    const isNamed = typeof value === 'object' && value !== null && !Array.isArray(value);
    return name === 'inputs' && isNamed ? Object.entries(value) : value;
  });
  return canonical(JSON.parse(ordered) as Json);
}
