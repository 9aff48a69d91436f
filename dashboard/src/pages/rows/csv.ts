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

const cell = (value: string | number | boolean | null | undefined): string => {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Rows as CSV (RFC 4180), with a head. */
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
  return `${[heads, ...lines].map((line) => line.map(cell).join(',')).join('\r\n')}\r\n`;
}
