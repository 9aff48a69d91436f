import { driveGraph, type ModelReply } from '../../src/core/graphs/run/drive.js';
import type { Graph, LlmStep } from '../../src/core/graphs/graph.js';
import { refHead } from '../../src/core/graphs/refs.js';
import { outcomeOf } from '../../src/core/graphs/run/run.js';
import type { LangGraph, State } from '../peers/langgraph/install.js';
import { input } from './shapes.js';

/** A chat completion. */
export type Ask = (messages: readonly { role: 'system' | 'user' | 'assistant'; content: string }[]) => Promise<string>;

/** Runs a graph once and returns its output; prepared for repeated runs. */
export type Executor = () => Promise<string>;

/** The service's own driver of its interpreter. */
export function ratchet(graph: Graph, ask: Ask): Executor {
  const reply = async (messages: Parameters<Ask>[0]): Promise<ModelReply> => {
    return { ok: true, text: await ask(messages) };
  };
  return async () => {
    const { run } = await driveGraph(graph, input, ({ messages }) => reply(messages));
    const outcome = outcomeOf(run);
    if (outcome.status !== 'done') throw new Error(`unexpected outcome: ${JSON.stringify(outcome)}`);
    return String(outcome.value);
  };
}

/** The same steps as nodes of a LangGraph, compiled once, without a checkpointer. */
export function toLangGraph({ Annotation, START, END, StateGraph }: LangGraph, graph: Graph, ask: Ask): Executor {
  const steps = graph.steps as readonly LlmStep[];
  const channels = ['question', ...steps.map(({ id }) => id)].map((name) => [name, Annotation()] as const);
  const state = new StateGraph(Annotation.Root(Object.fromEntries(channels)));
  // A node must not share the name of a channel.
  const toNode = (id: string) => `node_${id}`;
  for (const { id, inputs, messages } of steps) {
    const sources = Object.values(inputs).map((ref) => ref.split('.')[ref.startsWith('input.') ? 1 : 0]!);
    state.addNode(toNode(id), async (known): Promise<State> => {
      const user = sources.map((source) => known[source]!).join('\n');
      return { [id]: await ask([messages[0]!, { role: 'user', content: user }]) };
    });
    const before = Object.values(inputs).map(refHead);
    if (before[0] === 'input') state.addEdge(START, toNode(id));
    else state.addEdge(before.length === 1 ? toNode(before[0]!) : before.map(toNode), toNode(id));
  }
  const last = refHead(graph.output);
  state.addEdge(toNode(last), END);
  const compiled = state.compile();
  return async () => (await compiled.invoke(input, { recursionLimit: steps.length + 2 }))[last]!;
}
