/** The one-step graph of an initial prompt. */
import { freeName } from './drafts.js';
import type { Graph, PromptMessage } from './graph.js';
import { isGraphInput, placeholderNames } from '../prompts/template.js';

/**
 * A graph of one llm step with these messages. Its inputs are those with a placeholder:
 * `{{my_text}}` for `my-text`. Without any placeholder, an added last message shows all inputs.
 */
export function singleStepGraph(messages: readonly PromptMessage[], inputs: readonly string[]): Graph {
  const taken = new Set<string>();
  const named = inputs.map((input) => {
    const name = freeName(input.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?![A-Za-z])/, 'x'), taken);
    taken.add(name);
    return { input, name };
  });
  const placeholders = new Set(messages.flatMap(({ content }) => placeholderNames(content, isGraphInput)));
  const used = named.filter(({ name }) => placeholders.has(name));
  const given = messages.map(({ role, content }) => ({ role, content }));
  const isGiven = used.length > 0 || named.length === 0;
  const [first, ...others] = named;
  const all =
    others.length === 0 ? `{{${first?.name}}}` : named.map(({ input, name }) => `${input}: {{${name}}}`).join('\n\n');
  return {
    inputs: [...inputs],
    steps: [
      {
        id: 'solve',
        type: 'llm',
        inputs: Object.fromEntries((isGiven ? used : named).map(({ input, name }) => [name, `input.${input}`])),
        messages: isGiven ? given : [...given, { role: 'user', content: all }],
        output: { field: 'answer' },
      },
    ],
    output: 'solve.answer',
  };
}
