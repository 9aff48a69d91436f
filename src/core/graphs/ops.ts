/**
 * Steps without a model. The set of ops is closed and without expressions; this table defines each
 * op completely, so that other interpreters match it. A value of the wrong kind fails the step.
 *
 * | op                 | inputs    | value                                                        |
 * | ------------------ | --------- | ------------------------------------------------------------ |
 * | template           | any       | `text` with the inputs inserted; see `template.ts`           |
 * | object, list       | 1 or more | all inputs as an object by name, or as a list in order       |
 * | concat             | 1 or more | the items of all inputs (lists) as one list in order         |
 * | json_parse         | text      | the JSON of the text (`answers/json.ts`)                     |
 * | json_text          | value     | the value as JSON, also for a text                           |
 * | split              | text      | the list of texts between occurrences of `by`                |
 * | lines              | text      | the list of its lines, trimmed, without the blank ones       |
 * | join               | list      | the items joined by `by`; texts unchanged, others as JSON    |
 * | lower, upper, trim | text      | the text in lower case, in upper case, or trimmed            |
 * | number             | text      | its last number (`verify/numbers.ts`); a number is unchanged |
 * | between            | text      | the text from the first `start` to the next `end`, trimmed   |
 * | first, last        | list      | its first, its last item                                     |
 * | item               | list      | the item at `index` from 0; if negative, from the end        |
 * | count              | list      | the number of items                                          |
 * | pluck              | list      | the value at `path` of each item, which is an object         |
 * | unique             | list      | the first of equivalent items (`equivalenceKey`), in order   |
 * | sum, min, max      | list      | of numbers; the sum of none is 0, min and max of none fail   |
 */
import type { Transform } from './graph.js';

export type TransformOp = Transform['op'];

/** The inputs of an op (`some`: at least one; else a single input of that name), and its value. */
export const opSignatures: Record<
  TransformOp,
  { takes: 'any' | 'some' | 'text' | 'list' | 'value'; gives: ValueKind }
> = {
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
