import type { Graph, LlmStep } from '../../src/core/graphs/graph.js';

/** A graph with the length of its critical path. */
export interface Shape {
  name: string;
  graph: Graph;
  critical: number;
}

/** The input of all shapes. */
export const input = { question: 'Where is my parcel?' };

const step = (id: string, inputs: LlmStep['inputs']): LlmStep => ({
  id,
  type: 'llm',
  inputs,
  messages: [
    { role: 'system', content: 'Answer the customer kindly and to the point.' },
    {
      role: 'user',
      content: Object.keys(inputs)
        .map((name) => `{{${name}}}`)
        .join('\n'),
    },
  ],
  output: { field: 'said' },
});

/** A chain of steps. */
export function chain(steps: number): Shape {
  const all = Array.from({ length: steps }, (_, at) =>
    step(`s${at}`, { before: at === 0 ? 'input.question' : `s${at - 1}.said` }),
  );
  return { name: `a chain of ${steps}`, critical: steps, graph: buildGraph(all) };
}

/**
 * Independent branches with a number of steps each, joined by twenties (the limit of a step's
 * inputs), so possibly in two rows.
 */
export function branches(count: number, steps: number): Shape {
  const all = Array.from({ length: count }, (_, branch) =>
    Array.from({ length: steps }, (_, at) =>
      step(`b${branch}_${at}`, { before: at === 0 ? 'input.question' : `b${branch}_${at - 1}.said` }),
    ),
  ).flat();
  let ends = Array.from({ length: count }, (_, branch) => `b${branch}_${steps - 1}`);
  let rows = 0;
  while (ends.length > 1) {
    const joined = ends;
    ends = [];
    for (let from = 0; from < joined.length; from += maxInputs) {
      const id = `join${rows}_${from / maxInputs}`;
      const some = joined.slice(from, from + maxInputs);
      all.push(step(id, Object.fromEntries(some.map((end, at) => [`part${at}`, `${end}.said`]))));
      ends.push(id);
    }
    rows += 1;
  }
  const name = `${count} branches of ${steps}, joined (${all.length} steps)`;
  return { name, critical: steps + rows, graph: buildGraph(all) };
}

const maxInputs = 20;

function buildGraph(steps: LlmStep[]): Graph {
  return { inputs: ['question'], steps, output: `${steps.at(-1)!.id}.said` };
}
