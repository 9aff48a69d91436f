/** A graph's prompt texts as components, so that prompt proposals can rewrite them. */
import { componentNames } from '../prompts/components.js';
import { stepPrompt, withPrompt, type Graph } from './graph.js';
import { graphIdentity } from './identity.js';
import { isGraphInput, placeholderNames } from '../prompts/template.js';
import { graphProblems, type Problem } from './validate.js';

/**
 * Component names to texts. A name is `<step>.<role>`, numbered from the role's second message:
 * `solve.system`, `solve.user`, `solve.user_2`.
 */
export function graphTexts({ steps }: Graph): Record<string, string> {
  return Object.fromEntries(
    steps.flatMap((step) => {
      const messages = stepPrompt(step)?.messages ?? [];
      const names = componentNames(messages);
      return messages.map(({ content }, index) => [`${step.id}.${names[index]!}`, content]);
    }),
  );
}

/** The instruction components: a step's system messages, or all messages of a step without any. */
export function instructionNames(graph: Graph): string[] {
  const instructing = new Map(
    graph.steps.map((step) => [step.id, stepPrompt(step)?.messages.some(({ role }) => role === 'system') ?? false]),
  );
  return Object.keys(graphTexts(graph)).filter((name) => {
    const [id, message] = name.split('.') as [string, string];
    return !instructing.get(id) || message.startsWith('system');
  });
}

/** A key that is equal for graphs that differ only in message texts. */
export function structureKey(graph: Graph): string {
  const steps = graph.steps.map((step) => {
    const prompt = stepPrompt(step);
    return prompt ? withPrompt(step, { messages: prompt.messages.map(({ role }) => ({ role, content: '' })) }) : step;
  });
  return graphIdentity({ ...graph, steps });
}

export type RewriteResult = { ok: true; graph: Graph } | { ok: false; problems: Problem[] };

/**
 * Replaces components. Rejects an unknown component, a text that lacks a placeholder of the old
 * text, and an invalid graph; the problem's path is the component.
 */
export function withGraphTexts(graph: Graph, texts: Readonly<Record<string, string>>): RewriteResult {
  const before = graphTexts(graph);
  const problems = Object.entries(texts).flatMap(([path, text]): Problem[] => {
    if (!Object.hasOwn(before, path)) return [{ path, message: 'is not a component of the graph' }];
    const kept = new Set(placeholderNames(text, isGraphInput));
    const missing = placeholderNames(before[path]!, isGraphInput).filter((name) => !kept.has(name));
    return missing.map((name) => ({ path, message: `lacks the placeholder {{${name}}} of the previous text` }));
  });
  if (problems.length > 0) return { ok: false, problems };
  const indexes = new Map<string, string>();
  const steps = graph.steps.map((step, at) => {
    const prompt = stepPrompt(step);
    if (prompt === null) return step;
    const names = componentNames(prompt.messages);
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
