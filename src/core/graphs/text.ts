/**
 * graph.txt: a graph as text for people and for the proposer. Different graphs have different
 * texts, and no content can pose as another part.
 */
import type { AnswerForm, Condition, Graph, Inputs, Prompt, Step } from './graph.js';
import { stepPrompt } from './graph.js';

export function graphText({ inputs, steps, output }: Graph): string {
  const head = [`inputs: ${inputs.map(formatName).join(', ') || 'none'}`, `output: ${formatName(output)}`];
  return [head, ...steps.map((step) => stepLines(step))].map((lines) => lines.join('\n')).join('\n\n') + '\n';
}

function stepLines(step: Step): string[] {
  return [`step ${formatName(step.id)}: ${stepKind(step)}`, ...bodyLines(step).map(indent)];
}

function stepKind(step: Step): string {
  return step.type === 'transform' ? `transform, ${step.op}` : step.type;
}

function bodyLines(step: Step): string[] {
  switch (step.type) {
    case 'llm':
      return [
        ...promptLines(step),
        ...(step.samples === undefined ? [] : [`samples: ${step.samples}`]),
        `gives: ${formText(step.output)}`,
      ];
    case 'map':
      return [
        `for each ${formatName(step.as)} of ${formatName(step.over)}`,
        ...(step.maxItems === undefined ? [] : [`at most ${step.maxItems} items`]),
        ...promptLines(step),
        `gives for each: ${formText(step.output)}`,
      ];
    case 'vote': {
      const judge = stepPrompt(step);
      return [
        ...(step.over === undefined ? [] : [`over: ${formatName(step.over)}`]),
        ...(step.of === undefined ? [] : [`of: ${step.of.map(formatName).join(', ')}`]),
        ...(judge === null ? ['by: majority'] : ['by: a judge', ...promptLines(judge).map(indent)]),
      ];
    }
    case 'select':
      return [
        ...step.cases.map(({ when, then }) => `when ${conditionText(when)} then ${formatName(then)}`),
        `otherwise ${formatName(step.otherwise)}`,
      ];
    case 'transform':
      return [...inputLines(step.inputs), ...transformLines(step)];
  }
}

function transformLines(step: Step & { type: 'transform' }): string[] {
  switch (step.op) {
    case 'template':
      return ['text', ...quoteLines(step.text)];
    case 'split':
    case 'join':
      return [`by: ${JSON.stringify(step.by)}`];
    case 'item':
      return [`index: ${step.index}`];
    case 'between':
      return [`start: ${JSON.stringify(step.start)}`, `end: ${JSON.stringify(step.end)}`];
    case 'pluck':
      return [`path: ${formatName(step.path)}`];
    default:
      return [];
  }
}

function promptLines({ inputs, messages, model, timeoutS, tries }: Prompt): string[] {
  return [
    ...inputLines(inputs),
    ...(model === undefined ? [] : [`model: ${model === null ? 'null' : JSON.stringify(model)}`]),
    ...(timeoutS === undefined ? [] : [`timeout: ${timeoutS} s`]),
    ...(tries === undefined ? [] : [`tries: ${tries}`]),
    ...messages.flatMap(({ role, content }) => [`message, ${role}`, ...quoteLines(content)]),
  ];
}

function inputLines(inputs: Inputs): string[] {
  return Object.entries(inputs).map(([name, ref]) => `input ${formatName(name)} = ${formatName(ref)}`);
}

function formText(form: AnswerForm): string {
  return 'field' in form ? `field ${formatName(form.field)}` : `JSON of the form ${JSON.stringify(form.schema)}`;
}

function conditionText({ of, is, value }: Condition): string {
  return `${formatName(of)} is ${is}${value === undefined ? '' : ` ${JSON.stringify(value)}`}`;
}

/** Quotes each line; renders a text with invisible characters or unusual line breaks as JSON. */
function quoteLines(text: string): string[] {
  const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
  return hidden.test(text.replace(/[\n\t]/g, ''))
    ? [`JSON ${JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeChar)}`]
    : text.split('\n').map((line) => `> ${line}`);
}

function formatName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)
    ? name
    : JSON.stringify(name).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeChar);
}

function escapeChar(char: string): string {
  return [...Array(char.length).keys()].map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
}

function indent(line: string): string {
  return `  ${line}`;
}
