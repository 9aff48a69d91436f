/** A step of a graph in words. */
import { defaults, stepPrompt, type Graph, type Step } from '../../../../src/core/graphs/graph.js';
import { stepRefs } from '../../../../src/core/graphs/refs.js';
import { nameOf } from './changes.js';

/** `llm, 5 samples`, `map over plan.items`, `vote by a judge`, `join`. */
export function kindOf(step: Step): string {
  switch (step.type) {
    case 'llm':
      return (step.samples ?? 1) > 1 ? `llm, ${step.samples} samples` : 'llm';
    case 'map':
      return `map over ${step.over}`;
    case 'vote':
      return step.by === 'majority' ? 'vote by majority' : 'vote by a judge';
    case 'select':
      return 'select';
    case 'transform':
      return step.op.replaceAll('_', ' ');
  }
}

/** The model of a step; null: it asks none. */
export function modelOf(step: Step, firstModel: string): string | null {
  const prompt = stepPrompt(step);
  return prompt === null ? null : (prompt.model ?? firstModel);
}

/** The first line of what the step says or does. */
export function firstLine(step: Step): string {
  const prompt = stepPrompt(step);
  if (prompt !== null) return beginning(prompt.messages[0]?.content ?? '');
  if (step.type === 'select') return `${step.cases.length} cases, otherwise ${step.otherwise}`;
  if (step.type === 'transform' && step.op === 'template') return beginning(step.text);
  return stepRefs(step)
    .map(({ ref }) => ref)
    .join(', ');
}

const beginning = (text: string): string => text.trim().split('\n', 1)[0]!;

/** What the input box and the output box say. */
export const inputText = ({ inputs }: Graph): string => inputs.join(', ') || 'any fields';

/** All of a step but its messages, by name. */
export function settingsOf(step: Step, firstModel: string): Map<string, string> {
  const settings = new Map<string, string>([['kind', kindOf(step)]]);
  const model = modelOf(step, firstModel);
  if (model !== null) settings.set('model', model);
  for (const { path, ref } of stepRefs(step)) settings.set(nameOf(path), ref);
  const prompt = stepPrompt(step);
  if (prompt !== null) {
    settings.set('timeout', `${prompt.timeoutS ?? defaults.timeoutS} s`);
    settings.set('tries', String(prompt.tries ?? defaults.tries));
  }
  for (const [name, value] of Object.entries(ownSettings(step))) settings.set(name, textOf(value));
  return settings;
}

/** The settings that only this type of step has. */
function ownSettings(step: Step): Record<string, unknown> {
  switch (step.type) {
    case 'llm':
      return { output: formOf(step), samples: step.samples ?? 1 };
    case 'map':
      return { output: formOf(step), as: step.as, 'at most': `${step.maxItems ?? defaults.mapItems} items` };
    case 'vote':
      return {};
    case 'select':
      return Object.fromEntries(step.cases.map(({ when }, n) => [`cases[${n}].when`, when]));
    case 'transform': {
      const { id: _id, type: _type, inputs: _inputs, op: _op, ...own } = step;
      return own;
    }
  }
}

const formOf = ({ output }: Extract<Step, { type: 'llm' | 'map' }>): unknown =>
  'field' in output ? `text in the field ${output.field}` : output.schema;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
