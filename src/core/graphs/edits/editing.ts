/** Building blocks of edits. */
import type { DraftAnswer } from '../drafts.js';
import type { Graph, LlmStep, PromptMessage, Ref, Step, VoteStep } from '../graph.js';
import { refHead, refHeads, mapRefs, withHead } from '../refs.js';
import { isGraphInput, placeholderNames } from '../../prompts/template.js';

/** One edit. Its JSON form uses the JSON names of steps and judges. */
export type Edit =
  | { edit: 'verify'; step: string; prompt?: string; messages?: readonly PromptMessage[] }
  | { edit: 'critique'; step: string; critique: string; revise: string }
  | { edit: 'decompose'; step: string; prompt: string; messages: readonly PromptMessage[] }
  | { edit: 'vote'; step: string; samples: number; by: VoteStep['by'] }
  | { edit: 'add'; step: Step }
  | { edit: 'remove'; step: string }
  | { edit: 'rewire'; step: string; input: string; to: Ref | null }
  | { edit: 'model'; step: string; model: string | null }
  | { edit: 'prompt'; step: string; messages: readonly PromptMessage[] }
  | { edit: 'output'; to: Ref };

export interface EditRules {
  /** The models a step may use. */
  models: readonly string[];
  /** Upper limit of `maxAttempts` of the edited graph. */
  maxAttempts: number;
}

/** The edited graph with the ids of steps added or changed, or the problem and its field. */
export type EditResult = { graph: Graph; touched: readonly string[] } | { at: string; message: string };

export function invalid(at: string, message: string): { at: string; message: string } {
  return { at, message };
}

export function replaceStep(graph: Graph, step: Step): EditResult {
  return {
    graph: { ...graph, steps: graph.steps.map((other) => (other.id === step.id ? step : other)) },
    touched: [step.id],
  };
}

/** The names a new step must not have. */
export function takenNames({ steps }: Graph): Set<string> {
  return new Set(['input', ...steps.flatMap((step) => (step.type === 'map' ? [step.id, step.as] : [step.id]))]);
}

/** Inserts steps after a step; its users take the value of the last inserted step. */
export function insertAfter(graph: Graph, id: string, further: readonly Step[]): EditResult {
  const moved = redirectUsers(graph, id, (ref) => withHead(ref, further.at(-1)!.id));
  const steps = moved.steps.flatMap((step) => (step.id === id ? [step, ...further] : [step]));
  return { graph: { ...moved, steps }, touched: further.map((step) => step.id) };
}

/** Changes all refs to a step. */
export function redirectUsers(graph: Graph, id: string, move: (ref: Ref) => Ref): Graph {
  const change = (ref: Ref) => (refHead(ref) === id ? move(ref) : ref);
  const isUsed = (step: Step) => refHeads(step).includes(id);
  return {
    ...graph,
    steps: graph.steps.map((step) => (isUsed(step) ? mapRefs(step, change) : step)),
    output: change(graph.output),
  };
}

/** Creates an llm step with those inputs that its messages use. */
export function newLlmStep(
  id: string,
  { inputs, model }: Pick<DraftAnswer, 'inputs' | 'model'>,
  messages: readonly PromptMessage[],
  output: LlmStep['output'],
): LlmStep {
  const used = messagePlaceholders(messages);
  return {
    id,
    type: 'llm',
    inputs: Object.fromEntries(Object.entries(inputs).filter(([name]) => used.has(name))),
    messages,
    ...(model === undefined ? {} : { model }),
    output,
  };
}

function messagePlaceholders(messages: readonly PromptMessage[]): Set<string> {
  return new Set(messages.flatMap(({ content }) => placeholderNames(content, isGraphInput)));
}

/** A problem if no message contains the placeholder, else undefined. */
export function missingPlaceholder(messages: readonly PromptMessage[], name: string, at: string) {
  return messagePlaceholders(messages).has(name) ? undefined : invalid(at, `must have {{${name}}}`);
}

export function userMessage(content: string): PromptMessage[] {
  return [{ role: 'user', content }];
}

export function withoutSamples(step: Step): Step {
  if (step.type !== 'llm') return step;
  const { samples: _, ...others } = step;
  return others;
}
