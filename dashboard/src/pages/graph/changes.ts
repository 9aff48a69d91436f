/** What a graph changes in an earlier one. */
import type { Graph, Step } from '../../../../src/core/graphs/graph.js';
import { refHead, stepRefs } from '../../../../src/core/graphs/refs.js';
import { canonicalJson } from '../../../../src/util/json.js';

export type Change = 'same' | 'added' | 'removed' | 'changed';

/** Ids of the two boxes that are no steps; no step has such an id. */
export const inputBox = 'input';
export const outputBox = ' output';

export interface StepChange {
  change: Change;
  before: Step | null;
  after: Step | null;
}

export interface Edge {
  from: string;
  to: string;
  change: Change;
  /** What it carries: `plan = solve_plan.plan`. */
  carries: string[];
}

export interface Changes {
  /** By id, those of the later graph first. */
  steps: Map<string, StepChange>;
  edges: Edge[];
  input: Change;
  output: Change;
}

/** The steps of `graph`, with marks where they differ from `before`; null: without marks. */
export function changesOf(graph: Graph, before: Graph | null): Changes {
  const earlier = before ?? graph;
  return {
    steps: new Map(
      pairs(byId(earlier), byId(graph)).map(([id, was, is]) => [
        id,
        { change: changeOf(was, is), before: was, after: is },
      ]),
    ),
    edges: pairs(edgesOf(earlier), edgesOf(graph)).map(([, was, is]) => {
      const [from, to] = (is ?? was)!.ends;
      return { from, to, change: changeOf(was?.carries ?? null, is?.carries ?? null), carries: (is ?? was)!.carries };
    }),
    input: changeOf(earlier.inputs, graph.inputs),
    output: changeOf(earlier.output, graph.output),
  };
}

const byId = ({ steps }: Graph): Map<string, Step> => new Map(steps.map((step) => [step.id, step]));

/** The values of two maps by key: those of the second, then what only the first has. */
function pairs<T>(before: Map<string, T>, after: Map<string, T>): [key: string, was: T | null, is: T | null][] {
  const keys = new Set([...after.keys(), ...before.keys()]);
  return [...keys].map((key) => [key, before.get(key) ?? null, after.get(key) ?? null]);
}

function changeOf(before: unknown, after: unknown): Change {
  if (before === null) return 'added';
  if (after === null) return 'removed';
  return canonicalJson(before) === canonicalJson(after) ? 'same' : 'changed';
}

interface Wire {
  ends: [from: string, to: string];
  carries: string[];
}

/** The edges of a graph, each once; a map's own item has none, its list has one. */
function edgesOf({ steps, output }: Graph): Map<string, Wire> {
  const sources = new Set([inputBox, ...steps.map(({ id }) => id)]);
  const edges = new Map<string, Wire>();
  const add = (from: string, to: string, carried: string) => {
    if (!sources.has(from)) return;
    const key = `${from} ${to}`;
    const edge = edges.get(key) ?? { ends: [from, to], carries: [] };
    edges.set(key, edge);
    edge.carries.push(carried);
  };
  for (const step of steps)
    for (const { path, ref } of stepRefs(step)) add(refHead(ref), step.id, `${nameOf(path)} = ${ref}`);
  add(refHead(output), outputBox, output);
  return edges;
}

/** The place of a ref in its step: `plan`, `over`, `cases[0].then`. */
export const nameOf = (path: string): string => path.replace(/^(by\.judge\.)?inputs\./, '');
