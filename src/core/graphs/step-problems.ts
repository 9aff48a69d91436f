/** Validation of each kind of step by itself; ref-problems.ts validates its refs. */
import { conditionProblem } from './condition.js';
import { candidatesName, itemName, limits, namePattern } from './graph.js';
import type { AnswerForm, Prompt, Step, TransformStep, VoteStep } from './graph.js';
import { schemaProblems, type Problem } from './json-schema.js';
import { parseRef } from './refs.js';
import { bracedNames, isGraphInput, isPlainName, placeholderNames } from '../prompts/template.js';
import { opSignatures } from './ops.js';
import { cutAfter } from '../../util/text.js';

export const nameRule = 'must be 1 to 64 letters, digits or _, and begin with a letter';

/** Problems of a step; paths are relative to the step. */
export function stepProblems(step: Step): Problem[] {
  switch (step.type) {
    case 'llm':
      return [
        ...promptProblems(step, null, ''),
        ...formProblems(step.output),
        ...rangeProblems('samples', step.samples, 1, limits.samples),
      ];
    case 'map':
      return [
        ...nameProblems('as', step.as),
        ...(step.as === 'input' ? [{ path: 'as', message: 'must not be "input", which names the task input' }] : []),
        ...(Object.hasOwn(step.inputs, step.as)
          ? [{ path: 'as', message: `"${step.as}" is also the name of an input` }]
          : []),
        ...promptProblems(step, itemName(step), ''),
        ...formProblems(step.output),
        ...rangeProblems('maxItems', step.maxItems, 1, limits.mapItems),
      ];
    case 'vote':
      return voteProblems(step);
    case 'select': {
      const { cases } = step;
      return [
        ...(cases.length < 1 || cases.length > limits.cases
          ? [{ path: 'cases', message: `must hold 1 to ${limits.cases} cases, and holds ${cases.length}` }]
          : []),
        ...cases.flatMap(({ when }, at) => {
          const message = conditionProblem(when);
          return [
            ...(message === null ? [] : [{ path: `cases[${at}].when.value`, message }]),
            ...textProblems(`cases[${at}].when.value`, typeof when.value === 'string' ? when.value : ''),
          ];
        }),
      ];
    }
    case 'transform':
      return transformProblems(step);
  }
}

/** `given`: a name available in messages without an input (a map's item, a vote's candidates). */
function promptProblems(prompt: Prompt, given: string | null, at: string): Problem[] {
  const { inputs, messages, timeoutS, tries, model } = prompt;
  const problems = inputNameProblems(inputs, at);
  const report = (path: string, message: string) => problems.push({ path: `${at}${path}`, message });
  if (messages.length < 1 || messages.length > limits.messages)
    report('messages', `must hold 1 to ${limits.messages} messages, and holds ${messages.length}`);
  const used = new Set<string>();
  for (const [index, { content }] of messages.entries()) {
    const path = `messages[${index}].content`;
    if (content.trim() === '') report(path, 'must not be blank');
    problems.push(...textProblems(at + path, content, limits.messageChars));
    problems.push(...templateProblems(at + path, content, inputs, given));
    for (const name of placeholderNames(content, isGraphInput)) used.add(name);
  }
  for (const name of Object.keys(inputs)) {
    if (!used.has(name)) report(`inputs.${name}`, `is unused: no message contains {{${name}}}`);
  }
  const refers = given !== null && Object.values(inputs).some((ref) => parseRef(ref)?.head === given);
  if (given !== null && !used.has(given) && !refers)
    report('messages', `must contain {{${given}}} in a message or refer to it in an input`);
  if (typeof model === 'string' && !/^[^\0]{1,200}$/.test(model)) report('model', 'must be 1 to 200 characters');
  problems.push(...rangeProblems(`${at}tries`, tries, 1, limits.tries));
  if (timeoutS !== undefined && !(timeoutS > 0 && timeoutS <= limits.timeoutS))
    report('timeoutS', `must be above 0 and at most ${limits.timeoutS} seconds`);
  return problems;
}

function templateProblems(path: string, text: string, inputs: Prompt['inputs'], given: string | null): Problem[] {
  const heads = ['input', ...Object.keys(inputs), ...(given === null ? [] : [given])];
  // Braces of another form are literal: `{{"a": 1}}`, `${{ secrets.X }}`.
  const isMeant = (inside: string) =>
    !isGraphInput(inside) && (isPlainName(inside) || heads.some((head) => inside.startsWith(`${head}.`)));
  const unknown = placeholderNames(text, isGraphInput).filter((name) => name !== given && !Object.hasOwn(inputs, name));
  return [
    ...unknown.map((name) => ({
      path,
      message: `contains {{${cutAfter(name, 64)}}}, which is not an input of the step`,
    })),
    ...bracedNames(text)
      .filter(isMeant)
      .map((inside) => ({
        path,
        message: `contains {{${cutAfter(inside, 64)}}}, which is not a placeholder: double braces must enclose the name of an input`,
      })),
  ];
}

function inputNameProblems(inputs: Prompt['inputs'], at: string): Problem[] {
  const names = Object.keys(inputs);
  return [
    ...(names.length > limits.stepInputs
      ? [{ path: `${at}inputs`, message: `must hold at most ${limits.stepInputs} inputs, and holds ${names.length}` }]
      : []),
    ...names.flatMap((name) => nameProblems(`${at}inputs.${cutAfter(name, 64)}`, name)),
  ];
}

function nameProblems(path: string, name: string): Problem[] {
  return namePattern.test(name) ? [] : [{ path, message: nameRule }];
}

function formProblems(form: AnswerForm): Problem[] {
  return 'field' in form ? nameProblems('output.field', form.field) : schemaProblems(form.schema, 'output.schema');
}

function rangeProblems(path: string, value: number | undefined, low: number, high: number): Problem[] {
  const isRight = value === undefined || (Number.isInteger(value) && value >= low && value <= high);
  return isRight ? [] : [{ path, message: `must be a whole number from ${low} to ${high}` }];
}

function textProblems(path: string, text: string, most: number = limits.fieldChars): Problem[] {
  if (text.includes('\0')) return [{ path, message: 'contains a NUL character' }];
  return text.length > most ? [{ path, message: `has ${text.length} characters; at most ${most} are allowed` }] : [];
}

function voteProblems({ over, of, by }: VoteStep): Problem[] {
  const problems: Problem[] = [];
  const report = (path: string, message: string) => problems.push({ path, message });
  if ((over === undefined) === (of === undefined))
    report('over', 'must be given, or else of: exactly one of over (a list) and of (several refs)');
  if (of !== undefined && (of.length < 2 || of.length > limits.voteOf))
    report('of', `must hold 2 to ${limits.voteOf} refs, and holds ${of.length}`);
  if (by === 'majority') return problems;
  if (Object.hasOwn(by.judge.inputs, candidatesName)) {
    const message = 'must have another name: {{candidates}} is reserved for the values voted on';
    report(`by.judge.inputs.${candidatesName}`, message);
  }
  return [...problems, ...promptProblems(by.judge, candidatesName, 'by.judge.')];
}

function transformProblems(step: TransformStep): Problem[] {
  const names = Object.keys(step.inputs);
  const problems = inputNameProblems(step.inputs, '');
  const { takes } = opSignatures[step.op];
  if (takes === 'some' && names.length === 0)
    problems.push({ path: 'inputs', message: `${step.op} needs at least one input` });
  if (takes !== 'any' && takes !== 'some' && (names.length !== 1 || names[0] !== takes))
    problems.push({ path: 'inputs', message: `${step.op} needs exactly one input, named "${takes}"` });
  const texts = (own: Record<string, string>) =>
    Object.entries(own).flatMap(([path, text]) => [
      ...(text === '' && path !== 'text' ? [{ path, message: 'must not be empty' }] : []),
      ...textProblems(path, text),
    ]);
  switch (step.op) {
    case 'template': {
      const used = placeholderNames(step.text, isGraphInput);
      return [
        ...problems,
        ...texts({ text: step.text }),
        ...templateProblems('text', step.text, step.inputs, null),
        ...names
          .filter((name) => !used.includes(name))
          .map((name) => ({ path: `inputs.${name}`, message: `is unused: the text does not contain {{${name}}}` })),
      ];
    }
    case 'split':
      return [...problems, ...texts({ by: step.by })];
    case 'join':
      return [...problems, ...textProblems('by', step.by)];
    case 'between':
      return [...problems, ...texts({ start: step.start, end: step.end })];
    case 'item':
      return [...problems, ...rangeProblems('index', step.index, -1_000_000, 1_000_000)];
    case 'pluck':
      return [
        ...problems,
        ...(parseRef(step.path) === null ? [{ path: 'path', message: 'must be names separated by dots' }] : []),
      ];
    default:
      return problems;
  }
}
