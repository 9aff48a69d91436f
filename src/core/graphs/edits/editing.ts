/** What the edits of a graph are made of. */
import type { DraftAnswer } from '../drafts.js';
import { itemOf, type Graph, type LlmStep, type PromptMessage, type Ref, type Step } from '../graph.js';
import { headOf, headsOf, mapRefs, withHead } from '../refs.js';
import { placeholdersOf } from '../template.js';

/** The graph after one edit, and the steps that this made or changed; or what is wrong, in which field of the edit. */
export type Applied = { graph: Graph; touched: readonly string[] } | { at: string; message: string };

/** An edit that cannot be applied, because of what stands in one of its fields. */
export function wrong(at: string, message: string): { at: string; message: string } {
  return { at, message };
}

/** The graph with another step in the place of the one of its id. */
export function changed(graph: Graph, step: Step): Applied {
  return {
    graph: { ...graph, steps: graph.steps.map((one) => (one.id === step.id ? step : one)) },
    touched: [step.id],
  };
}

/** All names that a new step may not have. */
export function idsOf({ steps }: Graph): Set<string> {
  return new Set(['input', ...steps.flatMap((step) => [step.id, ...(itemOf(step) ?? [])])]);
}

/** The graph with further steps after one; who took its value takes that of the last of these. */
export function follow(graph: Graph, id: string, further: readonly Step[]): Applied {
  const moved = moveUsers(graph, id, (ref) => withHead(ref, further.at(-1)!.id));
  const steps = moved.steps.flatMap((step) => (step.id === id ? [step, ...further] : [step]));
  return { graph: { ...moved, steps }, touched: further.map((step) => step.id) };
}

/** The graph with other refs where there were refs to this step. */
export function moveUsers(graph: Graph, id: string, move: (ref: Ref) => Ref): Graph {
  const change = (ref: Ref) => (headOf(ref) === id ? move(ref) : ref);
  const isUsed = (step: Step) => headsOf(step).includes(id);
  return {
    ...graph,
    steps: graph.steps.map((step) => (isUsed(step) ? mapRefs(step, change) : step)),
    output: change(graph.output),
  };
}

/** A new llm step; of the inputs it has those that its messages have. */
export function llm(
  id: string,
  { inputs, model }: Pick<DraftAnswer, 'inputs' | 'model'>,
  messages: readonly PromptMessage[],
  output: LlmStep['output'],
): LlmStep {
  const used = namesIn(messages);
  return {
    id,
    type: 'llm',
    inputs: Object.fromEntries(Object.entries(inputs).filter(([name]) => used.has(name))),
    messages,
    ...(model === undefined ? {} : { model }),
    output,
  };
}

/** The placeholders of all messages. */
function namesIn(messages: readonly PromptMessage[]): Set<string> {
  return new Set(messages.flatMap(({ content }) => placeholdersOf(content)));
}

/** A problem where no message has a placeholder; undefined where one has. */
export function lacks(messages: readonly PromptMessage[], name: string, at: string) {
  return namesIn(messages).has(name) ? undefined : wrong(at, `must have {{${name}}}`);
}

/** One message of the user. */
export function user(content: string): PromptMessage[] {
  return [{ role: 'user', content }];
}

/** An llm step that answers once. */
export function withoutSamples(step: Step): Step {
  if (step.type !== 'llm') return step;
  const { samples: _, ...others } = step;
  return others;
}
