/** Execution of transform steps; ops.ts documents the ops. */
import { readJsonText } from './json-schema.js';
import { valueAt } from './refs.js';
import type { Transform } from './graph.js';
import { opSignatures, type TransformOp } from './ops.js';
import { isGraphInput, parseTemplate, renderTemplate } from '../prompts/template.js';
import { lastNumber } from '../verify/numbers.js';
import { describeValue, isList, equivalenceKey, maxValueSize, toText, type Json } from './values.js';

export type TransformResult = { ok: true; value: Json } | { ok: false; reason: string };

/** `inputs`: those that the op takes, in the step's order. */
export function applyTransform(transform: Transform, inputs: Readonly<Record<string, Json>>): TransformResult {
  const { op } = transform;
  const fail = (reason: string): TransformResult => ({ ok: false, reason: `${op} ${reason}` });
  switch (opSignatures[op].takes) {
    case 'any':
    case 'some':
      return applyToAll(transform, inputs, fail);
    case 'value':
      return succeed(JSON.stringify(inputs['value']));
    case 'text': {
      const text = inputs['text']!;
      if (op === 'number' && typeof text === 'number') return succeed(text);
      return typeof text === 'string'
        ? applyToText(transform, text, fail)
        : fail(`expects a text, but got ${describeValue(text)}`);
    }
    case 'list': {
      const list = inputs['list']!;
      return isList(list) ? applyToList(transform, list, fail) : fail(`expects a list, but got ${describeValue(list)}`);
    }
  }
}

type Fail = (reason: string) => TransformResult;

function succeed(value: Json): TransformResult {
  return { ok: true, value };
}

function applyToAll(transform: Transform, inputs: Readonly<Record<string, Json>>, fail: Fail): TransformResult {
  switch (transform.op) {
    case 'template': {
      const text = renderTemplate(
        parseTemplate(transform.text, isGraphInput),
        (name) => toText(inputs[name]!),
        maxValueSize,
      );
      return text === null ? fail(`gives more than ${maxValueSize} characters`) : succeed(text);
    }
    case 'list':
      return succeed(Object.values(inputs));
    case 'concat': {
      const problem = Object.entries(inputs).find(([, value]) => !isList(value));
      if (problem) return fail(`expects lists, but got ${describeValue(problem[1])} as ${problem[0]}`);
      return succeed((Object.values(inputs) as Json[][]).flat(1));
    }
    default:
      return succeed({ ...inputs });
  }
}

function applyToText(transform: Transform, text: string, fail: Fail): TransformResult {
  switch (transform.op) {
    case 'json_parse': {
      const read = readJsonText(text);
      return read.ok ? succeed(read.value) : fail(`expects JSON, but its input ${read.problem}`);
    }
    case 'split':
      return succeed(text.split(transform.by));
    case 'lines':
      return succeed(
        text
          .split(/\r\n|[\n\r]/)
          .map((line) => line.trim())
          .filter((line) => line !== ''),
      );
    case 'lower':
      return succeed(text.toLowerCase());
    case 'upper':
      return succeed(text.toUpperCase());
    case 'number': {
      const number = lastNumber(text);
      return number === null ? fail(`finds no number in ${describeValue(text)}`) : succeed(number.value);
    }
    case 'between': {
      const { start, end } = transform;
      const from = text.indexOf(start);
      if (from < 0) return fail(`finds no ${JSON.stringify(start)} in ${describeValue(text)}`);
      const to = text.indexOf(end, from + start.length);
      if (to < 0)
        return fail(`finds no ${JSON.stringify(end)} after ${JSON.stringify(start)} in ${describeValue(text)}`);
      return succeed(text.slice(from + start.length, to).trim());
    }
    default:
      return succeed(text.trim());
  }
}

function applyToList(transform: Transform, list: readonly Json[], fail: Fail): TransformResult {
  switch (transform.op) {
    case 'join':
      return joinTexts(list, transform.by, fail);
    case 'first':
      return itemAt(list, 0, fail);
    case 'last':
      return itemAt(list, -1, fail);
    case 'item':
      return itemAt(list, transform.index, fail);
    case 'count':
      return succeed(list.length);
    case 'pluck': {
      const values: Json[] = [];
      for (const [index, item] of list.entries()) {
        const found = valueAt(item, transform.path.split('.'), `item ${index}`);
        if (!found.ok) return fail(`of ${found.reason}`);
        values.push(found.value);
      }
      return succeed(values);
    }
    case 'unique': {
      const firsts = new Map<string, Json>();
      for (const item of list) {
        const key = equivalenceKey(item);
        if (!firsts.has(key)) firsts.set(key, item);
      }
      return succeed([...firsts.values()]);
    }
    default:
      return aggregate(transform.op, list, fail);
  }
}

function joinTexts(list: readonly Json[], by: string, fail: Fail): TransformResult {
  const texts = list.map(toText);
  const length = texts.reduce((sum, text) => sum + text.length, by.length * Math.max(0, texts.length - 1));
  return length > maxValueSize ? fail(`gives more than ${maxValueSize} characters`) : succeed(texts.join(by));
}

function itemAt(list: readonly Json[], index: number, fail: Fail): TransformResult {
  const item = list.at(index);
  return item === undefined ? fail(`finds no item ${index} in ${describeValue(list)}`) : succeed(item);
}

function aggregate(op: TransformOp, list: readonly Json[], fail: Fail): TransformResult {
  let result: number | null = op === 'sum' ? 0 : null;
  for (const [index, item] of list.entries()) {
    if (typeof item !== 'number')
      return fail(`expects a list of numbers, but got ${describeValue(item)} as item ${index}`);
    if (result === null) result = item;
    else if (op === 'sum') result += item;
    else result = op === 'min' ? Math.min(result, item) : Math.max(result, item);
  }
  if (result === null) return fail('has no value for an empty list');
  return Number.isFinite(result) ? succeed(result) : fail('is too large for a number');
}
