import { csvText } from '../../../../src/util/csv.js';
import type { Row } from '../../data/rows/types.js';

const heads = [
  'row',
  'group',
  'held_out',
  'input',
  'expected',
  'baseline_answer',
  'baseline_reward',
  'answer',
  'reward',
  'feedback',
  'error',
  'trace_id',
];

/** Rows as CSV, with a head. */
export function csvOf(rows: readonly Row[]): string {
  const lines = rows.map(({ name, group, seen, input, expected, before, after }) => [
    name,
    group,
    seen === null ? null : !seen,
    input,
    expected,
    before?.answer,
    before?.reward,
    after?.answer,
    after?.reward,
    after?.feedback,
    after?.error,
    after?.traceId,
  ]);
  return `${csvText([heads, ...lines])}\r\n`;
}
