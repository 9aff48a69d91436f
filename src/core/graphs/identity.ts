/** What tells one graph from another. */
import type { Graph } from './graph.js';
import { canonical, type Json } from './values.js';

/**
 * The same text for graphs that are the same. The order in which a step names its inputs is part of a graph, as a list of them has it, and so is
 * that in which a schema names properties; that of any other fields is not.
 */
export function identityOf(graph: Graph): string {
  const ordered = JSON.stringify(graph, (name, value: unknown) => {
    if (name === 'schema') return JSON.stringify(value);
    const isNamed = typeof value === 'object' && value !== null && !Array.isArray(value);
    return name === 'inputs' && isNamed ? Object.entries(value) : value;
  });
  return canonical(JSON.parse(ordered) as Json);
}
