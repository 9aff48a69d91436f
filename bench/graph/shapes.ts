import type { Graph, LlmStep } from '../../src/core/graphs/graph.js';

/** A graph to be run, and the most steps that wait one for another: its critical path. */
export interface Shape {
  name: string;
  graph: Graph;
  critical: number;
}

/** The input that all shapes take. */
export const input = { question: 'Where is my parcel?' };

const step = (id: string, inputs: LlmStep['inputs']): LlmStep => ({
  ...{ id, type: 'llm', inputs },
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

/** Steps one behind the other. */
export function chain(steps: number): Shape {
  const all = Array.from({ length: steps }, (_, at) =>
    step(`s${at}`, { before: at === 0 ? 'input.question' : `s${at - 1}.said` }),
  );
  return { name: `a chain of ${steps}`, critical: steps, graph: graphOf(all) };
}

/**
 * Branches of so many steps that do not wait for one another, and what they give joined: by twenties, which is what a step takes, so
 * there may be two rows of joins.
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
  return { name, critical: steps + rows, graph: graphOf(all) };
}

const maxInputs = 20;

function graphOf(steps: LlmStep[]): Graph {
  return { inputs: ['question'], steps, output: `${steps.at(-1)!.id}.said` };
}
