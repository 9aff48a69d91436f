/** The one-step graph of an initial prompt. */
import { freeName } from './drafts.js';
import type { Graph, PromptMessage } from './graph.js';
import { inputName } from '../prompts/row-template.js';
import { isGraphInput, placeholderNames } from '../prompts/template.js';

/**
 * A graph of one llm step with these messages. Its inputs are those with a placeholder:
 * `{{my_text}}` for `my-text`, and `{{input}}` for `main`, if there is one. Without any
 * placeholder, an added last message shows `main`, else all inputs.
 */
export function singleStepGraph(
  messages: readonly PromptMessage[],
  inputs: readonly string[],
  main: string | null = null,
): Graph {
  const taken = new Set(main === null ? [] : [inputName]);
  const named = inputs.map((input) => {
    const name = freeName(input.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?![A-Za-z])/, 'x'), taken);
    taken.add(name);
    return { input, name };
  });
  const mains = main === null ? [] : [{ input: main, name: inputName }];
  const placeholders = new Set(messages.flatMap(({ content }) => placeholderNames(content, isGraphInput)));
  const used = [...mains, ...named].filter(({ name }) => placeholders.has(name));
  const shown = main === null ? named : mains;
  const given = messages.map(({ role, content }) => ({ role, content }));
  const isGiven = used.length > 0 || shown.length === 0;
  const [first, ...others] = shown;
  const all =
    others.length === 0 ? `{{${first?.name}}}` : shown.map(({ input, name }) => `${input}: {{${name}}}`).join('\n\n');
  return {
    inputs: [...inputs],
    steps: [
      {
        id: 'solve',
        type: 'llm',
        inputs: Object.fromEntries((isGiven ? used : shown).map(({ input, name }) => [name, `input.${input}`])),
        messages: isGiven ? given : [...given, { role: 'user', content: all }],
        output: { field: 'answer' },
      },
    ],
    output: 'solve.answer',
  };
}
