/**
 * graph.txt: a graph for people and for a model that is to improve it. It says everything (two graphs have the same text only when
 * they are the same), in the order of the graph, and no text of it can pose as another part.
 */
import type { AnswerForm, Condition, Graph, Inputs, Prompt, Step } from './graph.js';
import { promptOf } from './graph.js';

/** The text of any graph, a valid one or not. */
export function graphText({ inputs, steps, output }: Graph): string {
  const head = [`inputs: ${inputs.map(named).join(', ') || 'none'}`, `output: ${named(output)}`];
  return [head, ...steps.map((step) => stepLines(step))].map((lines) => lines.join('\n')).join('\n\n') + '\n';
}

function stepLines(step: Step): string[] {
  return [`step ${named(step.id)}: ${kindOf(step)}`, ...bodyLines(step).map(indented)];
}

function kindOf(step: Step): string {
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
        `for each ${named(step.as)} of ${named(step.over)}`,
        ...(step.maxItems === undefined ? [] : [`at most ${step.maxItems} items`]),
        ...promptLines(step),
        `gives for each: ${formText(step.output)}`,
      ];
    case 'vote': {
      const judge = promptOf(step);
      return [
        ...(step.over === undefined ? [] : [`over: ${named(step.over)}`]),
        ...(step.of === undefined ? [] : [`of: ${step.of.map(named).join(', ')}`]),
        ...(judge === null ? ['by: majority'] : ['by: a judge', ...promptLines(judge).map(indented)]),
      ];
    }
    case 'select':
      return [
        ...step.cases.map(({ when, then }) => `when ${conditionText(when)} then ${named(then)}`),
        `otherwise ${named(step.otherwise)}`,
      ];
    case 'transform':
      return [...inputLines(step.inputs), ...ownLines(step)];
  }
}

function ownLines(step: Step & { type: 'transform' }): string[] {
  switch (step.op) {
    case 'template':
      return ['text', ...quoted(step.text)];
    case 'split':
    case 'join':
      return [`by: ${JSON.stringify(step.by)}`];
    case 'item':
      return [`index: ${step.index}`];
    case 'between':
      return [`start: ${JSON.stringify(step.start)}`, `end: ${JSON.stringify(step.end)}`];
    case 'pluck':
      return [`path: ${named(step.path)}`];
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
    ...messages.flatMap(({ role, content }) => [`message, ${role}`, ...quoted(content)]),
  ];
}

function inputLines(inputs: Inputs): string[] {
  return Object.entries(inputs).map(([name, ref]) => `input ${named(name)} = ${named(ref)}`);
}

function formText(form: AnswerForm): string {
  return 'field' in form ? `field ${named(form.field)}` : `JSON of the form ${JSON.stringify(form.schema)}`;
}

function conditionText({ of, is, value }: Condition): string {
  return `${named(of)} is ${is}${value === undefined ? '' : ` ${JSON.stringify(value)}`}`;
}

/** A text line by line, each marked; as JSON where it has what would not be seen, or ends lines in another way. */
function quoted(text: string): string[] {
  const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
  return hidden.test(text.replace(/[\n\t]/g, ''))
    ? [`JSON ${JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)}`]
    : text.split('\n').map((line) => `> ${line}`);
}

/** A name as it is where nothing in it can be taken for something else, else as JSON. */
function named(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)
    ? name
    : JSON.stringify(name).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

function escaped(char: string): string {
  return [...Array(char.length).keys()].map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
}

function indented(line: string): string {
  return `  ${line}`;
}
