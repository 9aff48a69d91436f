/** The prompt texts of a graph as components, so that what rewrites the components of a prompt can rewrite those of a graph. */
import { promptOf, withPrompt, type Graph, type PromptMessage } from './graph.js';
import { identityOf } from './identity.js';
import { placeholdersOf } from './template.js';
import { graphProblems, type Problem } from './validate.js';

/**
 * The texts by names: of each step that asks a model, and of each of its messages the role, with a number from the second of that
 * role on: `solve.system`, `solve.user`, `solve.user_2`. In the graph's order.
 */
export function graphTexts({ steps }: Graph): Record<string, string> {
  return Object.fromEntries(
    steps.flatMap((step) => {
      const messages = promptOf(step)?.messages ?? [];
      const names = messageNames(messages);
      return messages.map(({ content }, index) => [`${step.id}.${names[index]!}`, content]);
    }),
  );
}

/** The components that say what to do: of a step with system messages these, of any other all its messages. In the graph's order. */
export function instructionNames(graph: Graph): string[] {
  const instructing = new Map(
    graph.steps.map((step) => [step.id, promptOf(step)?.messages.some(({ role }) => role === 'system') ?? false]),
  );
  return Object.keys(graphTexts(graph)).filter((name) => {
    const [id, message] = name.split('.') as [string, string];
    return !instructing.get(id) || message.startsWith('system');
  });
}

/** The same text for graphs that differ in the texts of their messages alone. */
export function structureOf(graph: Graph): string {
  const steps = graph.steps.map((step) => {
    const prompt = promptOf(step);
    return prompt ? withPrompt(step, { messages: prompt.messages.map(({ role }) => ({ role, content: '' })) }) : step;
  });
  return identityOf({ ...graph, steps });
}

export type Rewritten = { ok: true; graph: Graph } | { ok: false; problems: Problem[] };

/**
 * The graph with other texts; a component that is not among these keeps its own. Refused, with the component as the path: a name
 * that no component has, a text that lacks a placeholder of the one that it replaces, and whatever makes the graph invalid.
 */
export function withGraphTexts(graph: Graph, texts: Readonly<Record<string, string>>): Rewritten {
  const before = graphTexts(graph);
  const problems = Object.entries(texts).flatMap(([path, text]): Problem[] => {
    if (!Object.hasOwn(before, path)) return [{ path, message: 'is no component of the graph' }];
    const kept = new Set(placeholdersOf(text));
    const missing = placeholdersOf(before[path]!).filter((name) => !kept.has(name));
    return missing.map((name) => ({ path, message: `lacks the placeholder {{${name}}}, which the text before has` }));
  });
  if (problems.length > 0) return { ok: false, problems };
  const indexes = new Map<string, string>();
  const steps = graph.steps.map((step, at) => {
    const prompt = promptOf(step);
    if (prompt === null) return step;
    const names = messageNames(prompt.messages);
    const messages = prompt.messages.map((message, index) => {
      const name = `${step.id}.${names[index]!}`;
      indexes.set(`steps[${at}].${step.type === 'vote' ? 'by.judge.' : ''}messages[${index}].content`, name);
      return Object.hasOwn(texts, name) ? { ...message, content: texts[name]! } : message;
    });
    return withPrompt(step, { messages });
  });
  const rewritten = { ...graph, steps };
  const found = graphProblems(rewritten).map(({ path, message }) => ({ path: indexes.get(path) ?? path, message }));
  return found.length === 0 ? { ok: true, graph: rewritten } : { ok: false, problems: found };
}

/** As the components of a prompt are named: `system`, `user`, `user_2`. */
function messageNames(messages: readonly PromptMessage[]): string[] {
  const counts = new Map<string, number>();
  return messages.map(({ role }) => {
    const count = (counts.get(role) ?? 0) + 1;
    counts.set(role, count);
    return count === 1 ? role : `${role}_${count}`;
  });
}
