import { graphSchema } from '../contract/graph.js';
import type { TaskedGraphJob } from '../contract/job.js';
import { initialMessages, taskInput, type TaskedDataset } from '../contract/dataset.js';
import type { PolicySpec } from '../../../core/jobs/policy.js';
import type { Message } from '../../../core/prompts/message.js';
import { limits, stepPrompt, type Graph } from '../../../core/graphs/graph.js';
import { graphFromJson } from '../../../core/graphs/json.js';
import { singleStepGraph } from '../../../core/graphs/single-step.js';
import { graphProblems, type Problem } from '../../../core/graphs/validate.js';
import { faultsIn, type Fault } from '../../../platform/http/server/faults.js';
import { parseRequest } from '../../../platform/http/server/schema.js';
import { withoutNulls } from '../../../contracts/nulls.js';

/** Default without graph, prompt and description. */
const plainPrompt = 'Answer the question that the input asks. Give the answer alone.';

/** The task description in a data set's metadata, and its field name. */
type Description = { name: string; text: string };

/**
 * A job's first graph (null: invalid), and the problems of its source. `main`: the field that
 * `{{input}}` stands for; null: none.
 */
export function firstGraph(
  request: TaskedGraphJob,
  policies: readonly PolicySpec[],
  description: Description | null,
  main: string | null,
): { graph: Graph | null; faults: Fault[] } {
  const fields = Object.keys(taskInput(request.dataset.tasks[0]!.input));
  return request.initial_graph === undefined
    ? promptGraph(request.dataset, { fields, main }, description)
    : requestedGraph(request.initial_graph, policies, fields);
}

function promptGraph(
  dataset: TaskedDataset,
  { fields, main }: { fields: readonly string[]; main: string | null },
  description: Description | null,
): { graph: Graph; faults: Fault[] } {
  const messages = initialMessages(dataset);
  const given = messages ?? [taskPrompt(description)];
  const graph = singleStepGraph(given, fields, main);
  const inputFaults = fieldFaults(graph, given.length, fields);
  if (inputFaults.length > 0) return { graph, faults: inputFaults };
  const isText = typeof dataset.initial_prompt === 'string';
  const source = ['dataset', ...(messages ? ['initial_prompt'] : description ? ['metadata', description.name] : [])];
  // The caller wrote messages, not steps: report problems at the messages.
  const faults = graphProblems(graph).map(({ path, message }): Fault => {
    const [, index] = /^steps\[0\]\.messages\[(\d+)\]\.content$/.exec(path) ?? [];
    if (index !== undefined) {
      const within = messages && !isText ? ['messages', Number(index), 'content'] : [];
      return { path: [...source, ...within], message };
    }
    if (path === 'steps[0].inputs') {
      const named = Object.keys(stepPrompt(graph.steps[0]!)!.inputs).length;
      return { path: source, message: `names ${named} fields; one step takes at most ${limits.stepInputs}` };
    }
    return { path: source, message: `gives no valid graph: ${message}` };
  });
  return { graph, faults };
}

/** Problems of the tasks' fields for a prompt with `given` messages, not of the prompt. */
function fieldFaults(graph: Graph, given: number, fields: readonly string[]): Fault[] {
  const { inputs, messages } = stepPrompt(graph.steps[0]!)!;
  const path = ['dataset', 'tasks', 0, 'input'];
  const has = `has ${fields.length} fields`;
  if (fields.length > limits.inputs) {
    return [
      {
        path,
        message: `${has}; a graph takes at most ${limits.inputs}: drop some, or name the needed ones in an initial_graph`,
      },
    ];
  }
  const isForAll = messages.length > given;
  if (isForAll && Object.keys(inputs).length > limits.stepInputs) {
    const most = `one step takes at most ${limits.stepInputs}`;
    return [{ path, message: `${has}; ${most}: name the needed ones as {{field}} in initial_prompt` }];
  }
  if (isForAll && messages.length > limits.messages) {
    const message = `is not used by any of the ${given} messages, and no message can be added: name its fields as {{field}}`;
    return [{ path, message }];
  }
  // Report only invalid names, without the problems that follow from them.
  return graphProblems(graph).flatMap(({ path: at, message }) => {
    const [, index] = /^inputs\[(\d+)\]$/.exec(at) ?? [];
    if (index === undefined) return [];
    return [{ path, message: `has the field ${JSON.stringify(fields[Number(index)])}, whose name ${message}` }];
  });
}

function taskPrompt(description: Description | null): Message {
  // Braces in a description are no placeholders.
  const text = description?.text.replaceAll(/\{{2,}|\}{2,}/g, (braces) => braces[0]!) ?? plainPrompt;
  return { role: 'system', content: text };
}

function requestedGraph(
  given: unknown,
  policies: readonly PolicySpec[],
  fields: readonly string[],
): { graph: Graph | null; faults: Fault[] } {
  const parsed = parseRequest(graphSchema, withoutNulls(graphSchema, given));
  if (!parsed.success) {
    const found = faultsIn(parsed.error.issues, graphSchema);
    return { graph: null, faults: found.map(({ path, message }) => ({ path: ['initial_graph', ...path], message })) };
  }
  const graph = graphFromJson(parsed.data);
  const faults = [
    ...graphProblems(graph),
    ...modelProblems(graph, policies),
    ...graph.inputs.flatMap((name, at) =>
      fields.includes(name)
        ? []
        : [{ path: `inputs[${at}]`, message: `"${name}" is not a field of the tasks' inputs` }],
    ),
  ].map(({ path, message }) => ({ path: ['initial_graph', ...pathParts(path)], message }));
  return { graph, faults };
}

function modelProblems({ steps }: Graph, policies: readonly PolicySpec[]): Problem[] {
  const known = policies.map(({ model }) => model);
  return steps.flatMap((step, at) => {
    const model = stepPrompt(step)?.model;
    if (model == null || known.includes(model)) return [];
    const path = `steps[${at}].${step.type === 'vote' ? 'by.judge.' : ''}model`;
    return [{ path, message: `must be one of the policy models: ${known.join(', ')}` }];
  });
}

const wireNames: Record<string, string> = { timeoutS: 'timeout_s', maxItems: 'max_items' };

/** `steps[0].messages[1]` as the parts of a pointer into the body. */
function pathParts(path: string): (string | number)[] {
  const parts = path.split(/[.[\]]+/).filter((part) => part !== '');
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : (wireNames[part] ?? part)));
}
