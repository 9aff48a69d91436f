/**
 * The steps without a model. The set is closed and has no expressions: what an op does is written here in full, so that whoever
 * runs a graph elsewhere does the same. A value of the wrong kind fails the step; the reason says what the op got.
 *
 * | op                  | inputs      | value                                                                              |
 * | ------------------- | ----------- | ---------------------------------------------------------------------------------- |
 * | template            | any         | `text` with the inputs in it; see `template.ts`                                    |
 * | object, list        | 1 or more   | all inputs, as an object by their names, as a list in their order                  |
 * | concat              | 1 or more   | one list of the items of all inputs, which are lists, in their order               |
 * | json_parse          | text        | the JSON that the text is, with at most one fence around it                        |
 * | json_text           | value       | the value as JSON, also where it is a text                                         |
 * | split               | text        | the list of texts between occurrences of `by`                                      |
 * | lines               | text        | the list of its lines, trimmed, without the blank ones                             |
 * | join                | list        | the items with `by` between them; texts as they are, others as JSON                |
 * | lower, upper, trim  | text        | the text in lower case, in upper case, without white space around it               |
 * | number              | text        | the last number in it (`lastNumber`); a number is taken as it is                   |
 * | between             | text        | what is after the first `start` and before the next `end`, trimmed                 |
 * | first, last         | list        | its first, its last item                                                           |
 * | item                | list        | the item at `index`, from 0 on; from -1 backwards, the last                        |
 * | count               | list        | how many items it has                                                              |
 * | pluck               | list        | the list of what each item, an object, has at `path`                               |
 * | unique              | list        | the first of all items that are the same (`keyOf` in `values.ts`), in order        |
 * | sum, min, max       | list        | of numbers; the sum of none is 0, a least or greatest of none there is not         |
 */
import { readJson } from './json-schema.js';
import { valueAt } from './refs.js';
import type { Transform } from './graph.js';
import { parseTemplate, renderTemplate } from './template.js';
import { described, isList, keyOf, maxValueSize, textOf, type Json } from './values.js';

export type TransformOp = Transform['op'];
export type Transformed = { ok: true; value: Json } | { ok: false; reason: string };

/** What an op takes: inputs of any names (from 0 or from 1 on), or one of the name told; and the kind of value it gives. */
export const opForms: Record<TransformOp, { takes: 'any' | 'some' | 'text' | 'list' | 'value'; gives: ValueKind }> = {
  template: { takes: 'any', gives: 'text' },
  object: { takes: 'some', gives: 'object' },
  list: { takes: 'some', gives: 'list' },
  concat: { takes: 'some', gives: 'list' },
  json_parse: { takes: 'text', gives: 'any' },
  json_text: { takes: 'value', gives: 'text' },
  split: { takes: 'text', gives: 'list' },
  lines: { takes: 'text', gives: 'list' },
  join: { takes: 'list', gives: 'text' },
  lower: { takes: 'text', gives: 'text' },
  upper: { takes: 'text', gives: 'text' },
  trim: { takes: 'text', gives: 'text' },
  number: { takes: 'text', gives: 'number' },
  between: { takes: 'text', gives: 'text' },
  first: { takes: 'list', gives: 'any' },
  last: { takes: 'list', gives: 'any' },
  item: { takes: 'list', gives: 'any' },
  count: { takes: 'list', gives: 'number' },
  pluck: { takes: 'list', gives: 'list' },
  unique: { takes: 'list', gives: 'list' },
  sum: { takes: 'list', gives: 'number' },
  min: { takes: 'list', gives: 'number' },
  max: { takes: 'list', gives: 'number' },
};
export type ValueKind = 'text' | 'list' | 'number' | 'object' | 'any';

/** The value of a transform step; `inputs` are those that its op takes, in the order the step names them. */
export function applyTransform(transform: Transform, inputs: Readonly<Record<string, Json>>): Transformed {
  const { op } = transform;
  const fail = (what: string): Transformed => ({ ok: false, reason: `${op} ${what}` });
  switch (opForms[op].takes) {
    case 'any':
    case 'some':
      return applyToAll(transform, inputs, fail);
    case 'value':
      return done(JSON.stringify(inputs['value']));
    case 'text': {
      const text = inputs['text']!;
      if (op === 'number' && typeof text === 'number') return done(text);
      return typeof text === 'string'
        ? applyToText(transform, text, fail)
        : fail(`takes a text, and got ${described(text)}`);
    }
    case 'list': {
      const list = inputs['list']!;
      return isList(list) ? applyToList(transform, list, fail) : fail(`takes a list, and got ${described(list)}`);
    }
  }
}

type Fail = (what: string) => Transformed;

function done(value: Json): Transformed {
  return { ok: true, value };
}

function applyToAll(transform: Transform, inputs: Readonly<Record<string, Json>>, fail: Fail): Transformed {
  switch (transform.op) {
    case 'template': {
      const text = renderTemplate(parseTemplate(transform.text), (name) => inputs[name]!, maxValueSize);
      return text === null ? fail(`gives more than ${maxValueSize} characters`) : done(text);
    }
    case 'list':
      return done(Object.values(inputs));
    case 'concat': {
      const wrong = Object.entries(inputs).find(([, value]) => !isList(value));
      if (wrong) return fail(`takes lists, and got ${described(wrong[1])} as ${wrong[0]}`);
      return done((Object.values(inputs) as Json[][]).flat(1));
    }
    default:
      return done({ ...inputs });
  }
}

function applyToText(transform: Transform, text: string, fail: Fail): Transformed {
  switch (transform.op) {
    case 'json_parse': {
      const read = readJson(text);
      return read.ok ? done(read.value) : fail(`takes JSON, and what it got ${read.problem}`);
    }
    case 'split':
      return done(text.split(transform.by));
    case 'lines':
      return done(
        text
          .split(/\r\n|[\n\r]/)
          .map((line) => line.trim())
          .filter((line) => line !== ''),
      );
    case 'lower':
      return done(text.toLowerCase());
    case 'upper':
      return done(text.toUpperCase());
    case 'number': {
      const number = lastNumber(text);
      return number === null ? fail(`finds no number in ${described(text)}`) : done(number);
    }
    case 'between': {
      const { start, end } = transform;
      const from = text.indexOf(start);
      if (from < 0) return fail(`finds no ${JSON.stringify(start)} in ${described(text)}`);
      const to = text.indexOf(end, from + start.length);
      if (to < 0) return fail(`finds no ${JSON.stringify(end)} after ${JSON.stringify(start)} in ${described(text)}`);
      return done(text.slice(from + start.length, to).trim());
    }
    default:
      return done(text.trim());
  }
}

function applyToList(transform: Transform, list: readonly Json[], fail: Fail): Transformed {
  switch (transform.op) {
    case 'join':
      return joined(list, transform.by, fail);
    case 'first':
      return itemAt(list, 0, fail);
    case 'last':
      return itemAt(list, -1, fail);
    case 'item':
      return itemAt(list, transform.index, fail);
    case 'count':
      return done(list.length);
    case 'pluck': {
      const values: Json[] = [];
      for (const [index, item] of list.entries()) {
        const found = valueAt(item, transform.path.split('.'), `item ${index}`);
        if (!found.ok) return fail(`of ${found.reason}`);
        values.push(found.value);
      }
      return done(values);
    }
    case 'unique': {
      const firsts = new Map<string, Json>();
      for (const item of list) {
        const key = keyOf(item);
        if (!firsts.has(key)) firsts.set(key, item);
      }
      return done([...firsts.values()]);
    }
    default:
      return ofNumbers(transform.op, list, fail);
  }
}

function joined(list: readonly Json[], by: string, fail: Fail): Transformed {
  const texts = list.map(textOf);
  const length = texts.reduce((sum, text) => sum + text.length, by.length * Math.max(0, texts.length - 1));
  return length > maxValueSize ? fail(`gives more than ${maxValueSize} characters`) : done(texts.join(by));
}

function itemAt(list: readonly Json[], index: number, fail: Fail): Transformed {
  const item = list.at(index);
  return item === undefined ? fail(`finds no item ${index} in ${described(list)}`) : done(item);
}

function ofNumbers(op: TransformOp, list: readonly Json[], fail: Fail): Transformed {
  let result: number | null = op === 'sum' ? 0 : null;
  for (const [index, item] of list.entries()) {
    if (typeof item !== 'number') return fail(`takes a list of numbers, and got ${described(item)} as item ${index}`);
    if (result === null) result = item;
    else if (op === 'sum') result += item;
    else result = op === 'min' ? Math.min(result, item) : Math.max(result, item);
  }
  if (result === null) return fail('has no value for an empty list');
  return Number.isFinite(result) ? done(result) : fail('is too large for a number');
}

/**
 * The last number in a text: digits, perhaps with a comma before each three (`1,234`), perhaps with a point and more digits,
 * perhaps with a minus that no letter or digit stands before. Null where there is none, or one too large.
 */
export function lastNumber(text: string): number | null {
  let last: string | null = null;
  for (const [found] of text.matchAll(/(?:(?<![A-Za-z0-9])-)?(?:\d{1,3}(?:,\d{3}(?!\d))+|\d+)(?:\.\d+)?/g))
    last = found;
  if (last === null) return null;
  const value = Number(last.replaceAll(',', ''));
  return Number.isFinite(value) ? value : null;
}
