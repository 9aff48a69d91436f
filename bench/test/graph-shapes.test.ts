/** The bench's graph shapes, run by the service's executor. */
import { describe, expect, test } from '@jest/globals';
import type { Graph } from '../../src/core/graphs/graph.js';
import { refHeads } from '../../src/core/graphs/refs.js';
import { graphProblems } from '../../src/core/graphs/validate.js';
import { ratchet } from '../graph/executors.js';
import { branches, chain } from '../graph/shapes.js';

/** Number of steps on the longest path to a step. */
function depth(graph: Graph, id: string): number {
  const step = graph.steps.find((item) => item.id === id);
  return step ? 1 + Math.max(...refHeads(step).map((head) => depth(graph, head))) : 0;
}

describe.each([chain(1), chain(50), branches(8, 4), branches(16, 2), branches(45, 1)])('$name', (shape) => {
  const { graph, critical } = shape;

  test('is valid and has the stated critical path', () => {
    expect(graphProblems(graph)).toEqual([]);
    expect(depth(graph, graph.steps.at(-1)!.id)).toBe(critical);
  });

  test('runs every step after its dependencies', async () => {
    const contents: string[] = [];
    const run = ratchet(graph, (messages) => {
      contents.push(messages.at(-1)!.content);
      return Promise.resolve(`${contents.length}`);
    });
    expect(await run()).toBe(String(graph.steps.length));
    expect(contents).toHaveLength(graph.steps.length);
    expect(contents.filter((text) => text === 'Where is my parcel?').length).toBe(
      graph.steps.filter((step) => refHeads(step).includes('input')).length,
    );
  });
});
