/** A graph made ready to be run: its refs and templates read once, its steps by their places. */
import type { Graph, PromptMessage, Prompt, Ref, Step } from './graph.js';
import { defaults, promptOf } from './graph.js';
import { headsOf, parseRef } from './refs.js';
import { parseTemplate, type TemplatePart } from './template.js';
import { graphProblems } from './validate.js';

/** Where a ref leads: into the value of the step at `from`, or of the task's input or the map's item. */
export interface Way {
  ref: Ref;
  from: number | 'input' | 'item';
  path: readonly string[];
}

export interface PlannedPrompt {
  inputs: ReadonlyMap<string, Way>;
  messages: readonly { role: PromptMessage['role']; parts: readonly TemplatePart[] }[];
  model: string | null;
  timeoutS: number;
  tries: number;
}

export interface PlannedStep {
  step: Step;
  /** Places of the steps whose values it takes; of a select those that it may take. */
  needs: readonly number[];
  /** Places of the steps that take its value. */
  users: readonly number[];
  ways: ReadonlyMap<Ref, Way>;
  prompt: PlannedPrompt | null;
}

export interface Plan {
  graph: Graph;
  steps: readonly PlannedStep[];
  indexes: ReadonlyMap<string, number>;
  output: Way;
}

const plans = new WeakMap<Graph, Plan>();

/** The plan of a graph, made once for each; the graph must not be changed afterwards. Throws where it has problems. */
export function planOf(graph: Graph): Plan {
  const known = plans.get(graph);
  if (known) return known;
  const [problem] = graphProblems(graph);
  if (problem) throw new Error(`the graph cannot be run: ${problem.path} ${problem.message}`);
  const plan = makePlan(graph);
  plans.set(graph, plan);
  return plan;
}

function makePlan(graph: Graph): Plan {
  const indexes = new Map(graph.steps.map(({ id }, index) => [id, index]));
  const needs = graph.steps.map((step) => headsOf(step).flatMap((head) => indexes.get(head) ?? []));
  const users: number[][] = graph.steps.map(() => []);
  for (const [index, needed] of needs.entries()) for (const one of needed) users[one]!.push(index);
  const wayOf = (ref: Ref): Way => {
    const { head, path } = parseRef(ref)!;
    return { ref, from: head === 'input' ? 'input' : (indexes.get(head) ?? 'item'), path };
  };
  const steps = graph.steps.map((step, index): PlannedStep => {
    const prompt = promptOf(step);
    return {
      step,
      needs: needs[index]!,
      users: users[index]!,
      ways: new Map(otherRefs(step).map((ref) => [ref, wayOf(ref)])),
      prompt: prompt === null ? null : planPrompt(prompt, wayOf),
    };
  });
  return { graph, steps, indexes, output: wayOf(graph.output) };
}

/** The refs of a step that are not inputs of its prompt. */
function otherRefs(step: Step): Ref[] {
  switch (step.type) {
    case 'llm':
      return [];
    case 'map':
      return [step.over];
    case 'vote':
      return [...(step.over === undefined ? [] : [step.over]), ...(step.of ?? [])];
    case 'select':
      return [...step.cases.flatMap(({ when, then }) => [when.of, then]), step.otherwise];
    case 'transform':
      return Object.values(step.inputs);
  }
}

function planPrompt({ inputs, messages, model, timeoutS, tries }: Prompt, wayOf: (ref: Ref) => Way): PlannedPrompt {
  return {
    inputs: new Map(Object.entries(inputs).map(([name, ref]) => [name, wayOf(ref)])),
    messages: messages.map(({ role, content }) => ({ role, parts: parseTemplate(content) })),
    model: model ?? null,
    timeoutS: timeoutS ?? defaults.timeoutS,
    tries: tries ?? defaults.tries,
  };
}
