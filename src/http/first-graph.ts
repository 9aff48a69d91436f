import { graphSchema } from '../contracts/graph.js';
import type { CreateGraphJob } from '../contracts/graph-job.js';
import { initialMessages, taskInput } from '../contracts/graph-dataset.js';
import type { Message, PolicySpec } from '../contracts/spec.js';
import { promptOf, type Graph } from '../core/graph/graph.js';
import { graphOf } from '../core/graph/json.js';
import { singleStepGraph } from '../core/graph/single-step.js';
import { graphProblems, type Problem } from '../core/graph/validate.js';
import { faultsIn } from './errors.js';
import type { Fault } from './graph-specs.js';
import { missing } from './schema.js';

/** Where neither graph nor prompt nor description is given. */
const plainPrompt = 'Answer the question that the input asks. Give the answer alone.';

/** The graph that a job begins with, null where there is none, and what is wrong with what it was to be made from. */
export function firstGraph(
  request: CreateGraphJob,
  policies: readonly PolicySpec[],
  description: string | null,
): { graph: Graph | null; faults: Fault[] } {
  const fields = Object.keys(taskInput(request.dataset.tasks[0]!.input));
  if (request.initial_graph !== undefined) return givenGraph(request.initial_graph, policies, fields);
  const messages = initialMessages(request.dataset);
  const graph = singleStepGraph(messages ?? [promptOfTask(description)], fields);
  const problems = graphProblems(graph);
  // What follows from a name that cannot be one is not told beside it.
  const ofNames = problems.flatMap(({ path, message }) => {
    const [, at] = /^inputs\[(\d+)\]$/.exec(path) ?? [];
    if (at === undefined) return [];
    const field = JSON.stringify(fields[Number(at)]);
    return [{ path: ['dataset', 'tasks', 0, 'input'], message: `has the field ${field}, whose name ${message}` }];
  });
  if (ofNames.length > 0) return { graph, faults: ofNames };
  const source = ['dataset', messages ? 'initial_prompt' : 'metadata'];
  const faults = problems.map(({ path, message }) => ({ path: source, message: `makes no graph: ${path} ${message}` }));
  return { graph, faults };
}

function promptOfTask(description: string | null): Message {
  // Braces in a description are not meant as places of inputs.
  const text = description?.replaceAll(/\{{2,}|\}{2,}/g, (braces) => braces[0]!) ?? plainPrompt;
  return { role: 'system', content: text };
}

function givenGraph(
  given: unknown,
  policies: readonly PolicySpec[],
  fields: readonly string[],
): { graph: Graph | null; faults: Fault[] } {
  const parsed = graphSchema.safeParse(given, { error: missing });
  if (!parsed.success) {
    const found = faultsIn(parsed.error.issues);
    return { graph: null, faults: found.map(({ path, message }) => ({ path: ['initial_graph', ...path], message })) };
  }
  const graph = graphOf(parsed.data);
  const faults = [
    ...graphProblems(graph),
    ...modelProblems(graph, policies),
    ...graph.inputs.flatMap((name, at) =>
      fields.includes(name) ? [] : [{ path: `inputs[${at}]`, message: `is "${name}", which the tasks' inputs lack` }],
    ),
  ].map(({ path, message }) => ({ path: ['initial_graph', ...partsOf(path)], message }));
  return { graph, faults };
}

function modelProblems({ steps }: Graph, policies: readonly PolicySpec[]): Problem[] {
  const known = policies.map(({ model }) => model);
  return steps.flatMap((step, at) => {
    const model = promptOf(step)?.model;
    if (model == null || known.includes(model)) return [];
    const path = `steps[${at}].${step.type === 'vote' ? 'by.judge.' : ''}model`;
    return [{ path, message: `is none of the policy models, which are ${known.join(', ')}` }];
  });
}

const wireNames: Record<string, string> = { timeoutS: 'timeout_s', maxItems: 'max_items' };

/** `steps[0].messages[1]` as the parts of a pointer, by the names that the body has. */
function partsOf(path: string): (string | number)[] {
  const parts = path.split(/[.[\]]+/).filter((part) => part !== '');
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : (wireNames[part] ?? part)));
}
