/** A graph prepared for execution: parsed refs and templates, and steps by index. */
import type { Graph, PromptMessage, Prompt, Ref, Step } from './graph.js';
import { defaults, stepPrompt } from './graph.js';
import { refHeads, parseRef } from './refs.js';
import { isGraphInput, parseTemplate, type TemplatePart } from '../prompts/template.js';
import { graphProblems } from './validate.js';

/** A parsed ref. `from` is a step's index, the task's input or the map's item. */
export interface ResolvedRef {
  ref: Ref;
  from: number | 'input' | 'item';
  path: readonly string[];
}

export interface PlannedPrompt {
  inputs: ReadonlyMap<string, ResolvedRef>;
  messages: readonly { role: PromptMessage['role']; parts: readonly TemplatePart[] }[];
  model: string | null;
  timeoutS: number;
  tries: number;
}

export interface PlannedStep {
  step: Step;
  /** Indexes of the steps whose values this step takes or, for a select, may take. */
  dependencies: readonly number[];
  /** Indexes of the steps that take this step's value. */
  dependents: readonly number[];
  refs: ReadonlyMap<Ref, ResolvedRef>;
  prompt: PlannedPrompt | null;
}

export interface Plan {
  graph: Graph;
  steps: readonly PlannedStep[];
  indexes: ReadonlyMap<string, number>;
  output: ResolvedRef;
}

const plans = new WeakMap<Graph, Plan>();

/** A graph's plan, built once; the graph must not change afterwards. Throws on an invalid graph. */
export function planGraph(graph: Graph): Plan {
  const known = plans.get(graph);
  if (known) return known;
  const [problem] = graphProblems(graph);
  if (problem) throw new Error(`Cannot run an invalid graph: ${problem.path} ${problem.message}.`);
  const plan = makePlan(graph);
  plans.set(graph, plan);
  return plan;
}

function makePlan(graph: Graph): Plan {
  const indexes = new Map(graph.steps.map(({ id }, index) => [id, index]));
  const dependencies = graph.steps.map((step) => refHeads(step).flatMap((head) => indexes.get(head) ?? []));
  const dependents: number[][] = graph.steps.map(() => []);
  for (const [index, needed] of dependencies.entries())
    for (const dependency of needed) dependents[dependency]!.push(index);
  const resolveRef = (ref: Ref): ResolvedRef => {
    const { head, path } = parseRef(ref)!;
    return { ref, from: head === 'input' ? 'input' : (indexes.get(head) ?? 'item'), path };
  };
  const steps = graph.steps.map((step, index): PlannedStep => {
    const prompt = stepPrompt(step);
    return {
      step,
      dependencies: dependencies[index]!,
      dependents: dependents[index]!,
      refs: new Map(nonPromptRefs(step).map((ref) => [ref, resolveRef(ref)])),
      prompt: prompt === null ? null : planPrompt(prompt, resolveRef),
    };
  });
  return { graph, steps, indexes, output: resolveRef(graph.output) };
}

/** The refs of a step other than its prompt's inputs. */
function nonPromptRefs(step: Step): Ref[] {
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

function planPrompt(
  { inputs, messages, model, timeoutS, tries }: Prompt,
  resolveRef: (ref: Ref) => ResolvedRef,
): PlannedPrompt {
  return {
    inputs: new Map(Object.entries(inputs).map(([name, ref]) => [name, resolveRef(ref)])),
    messages: messages.map(({ role, content }) => ({ role, parts: parseTemplate(content, isGraphInput) })),
    model: model ?? null,
    timeoutS: timeoutS ?? defaults.timeoutS,
    tries: tries ?? defaults.tries,
  };
}
