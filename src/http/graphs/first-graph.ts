import { graphSchema } from '../../contracts/graphs/graph.js';
import type { CreateGraphJob } from '../../contracts/graphs/job.js';
import { initialMessages, taskInput, type GraphDataset } from '../../contracts/graphs/dataset.js';
import type { Message, PolicySpec } from '../../core/jobs/spec.js';
import { limits, stepPrompt, type Graph } from '../../core/graphs/graph.js';
import { graphFromJson } from '../../core/graphs/json.js';
import { singleStepGraph } from '../../core/graphs/single-step.js';
import { graphProblems, type Problem } from '../../core/graphs/validate.js';
import { faultsIn } from '../server/errors.js';
import type { Fault } from './specs.js';
import { missing } from '../server/schema.js';

/** Where neither graph nor prompt nor description is given. */
const plainPrompt = 'Answer the question that the input asks. Give the answer alone.';

/** What a data set's metadata says of the task, and the name there. */
type Description = { name: string; text: string };

/** The graph that a job begins with, null where there is none, and what is wrong with what it was to be made from. */
export function firstGraph(
  request: CreateGraphJob,
  policies: readonly PolicySpec[],
  description: Description | null,
): { graph: Graph | null; faults: Fault[] } {
  const fields = Object.keys(taskInput(request.dataset.tasks[0]!.input));
  return request.initial_graph === undefined
    ? graphOfPrompt(request.dataset, fields, description)
    : givenGraph(request.initial_graph, policies, fields);
}

function graphOfPrompt(
  dataset: GraphDataset,
  fields: readonly string[],
  description: Description | null,
): { graph: Graph; faults: Fault[] } {
  const messages = initialMessages(dataset);
  const given = messages ?? [promptOfTask(description)];
  const graph = singleStepGraph(given, fields);
  const ofInputs = fieldFaults(graph, given.length, fields);
  if (ofInputs.length > 0) return { graph, faults: ofInputs };
  const isText = typeof dataset.initial_prompt === 'string';
  const source = ['dataset', ...(messages ? ['initial_prompt'] : description ? ['metadata', description.name] : [])];
  // The caller has written messages, and no steps: what is wrong is said of these.
  const faults = graphProblems(graph).map(({ path, message }): Fault => {
    const [, index] = /^steps\[0\]\.messages\[(\d+)\]\.content$/.exec(path) ?? [];
    if (index !== undefined) {
      const within = messages && !isText ? ['messages', Number(index), 'content'] : [];
      return { path: [...source, ...within], message };
    }
    if (path === 'steps[0].inputs') {
      const named = Object.keys(stepPrompt(graph.steps[0]!)!.inputs).length;
      return { path: source, message: `names ${named} fields; at most ${limits.stepInputs} can be given to one step` };
    }
    return { path: source, message: `makes no graph: ${message}` };
  });
  return { graph, faults };
}

/** What is wrong with the fields of the tasks for a prompt of so many messages; its own faults are not told beside. */
function fieldFaults(graph: Graph, given: number, fields: readonly string[]): Fault[] {
  const { inputs, messages } = stepPrompt(graph.steps[0]!)!;
  const path = ['dataset', 'tasks', 0, 'input'];
  const has = `has ${fields.length} fields`;
  if (fields.length > limits.inputs) {
    return [
      {
        path,
        message: `${has}; a graph takes at most ${limits.inputs}: leave some out, or name some in an initial_graph`,
      },
    ];
  }
  const isForAll = messages.length > given;
  if (isForAll && Object.keys(inputs).length > limits.stepInputs) {
    const most = `at most ${limits.stepInputs} can be given to one step`;
    return [{ path, message: `${has}; ${most}: name those that it needs as {{field}} in initial_prompt` }];
  }
  if (isForAll && messages.length > limits.messages) {
    const message = `is named by none of the ${given} messages, beside which there is no room for it: name its fields as {{field}}`;
    return [{ path, message }];
  }
  // Of graphProblems: what follows from a name that cannot be one is not told beside it.
  return graphProblems(graph).flatMap(({ path: at, message }) => {
    const [, index] = /^inputs\[(\d+)\]$/.exec(at) ?? [];
    if (index === undefined) return [];
    return [{ path, message: `has the field ${JSON.stringify(fields[Number(index)])}, whose name ${message}` }];
  });
}

function promptOfTask(description: Description | null): Message {
  // Braces in a description are not meant as places of inputs.
  const text = description?.text.replaceAll(/\{{2,}|\}{2,}/g, (braces) => braces[0]!) ?? plainPrompt;
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
  const graph = graphFromJson(parsed.data);
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
    const model = stepPrompt(step)?.model;
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
