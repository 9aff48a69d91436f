import { median, spread } from './stats.js';
import type { Spent } from './world.js';

/** What has to hold of a row: its value, or its ratio to or difference from what stands beside it, is at most or at least so much. */
type Aim = { of: 'value' | 'ratio' | 'difference' } & ({ most: number } | { least: number });

/** What so many units of work used: CPU seconds of each part, and transactions of Postgres. */
interface Used {
  unit: string;
  n: number;
  spent: Spent;
}

/** One thing measured. The value beside it is of the same run and unit: the ideal, or a peer; null where it is not shown. */
export interface Row {
  what: string;
  value: number;
  unit: string;
  beside?: { what: string; value: number | null };
  aim?: Aim;
  used?: Used;
  /** Figures behind it, for `--json`. */
  raw?: unknown;
}

/** A row that several runs gave: medians, and how far the runs are apart. */
export interface Line {
  what: string;
  measured: string;
  beside: string;
  ratio: string;
  aim: string;
  met: 'met' | 'not met' | 'no aim' | 'failed';
}

/** Merges the same row of several runs. Throws on none. */
export function lineOf(runs: readonly Row[]): Line {
  const [first] = runs;
  if (!first) throw new RangeError('a line needs at least one run');
  const { what, unit, aim } = first;
  const values = runs.map((run) => run.value);
  const besides = runs.flatMap((run) => run.beside?.value ?? []);
  const ratios = runs.flatMap((run) => (run.beside?.value ? run.value / run.beside.value : []));
  const differences = runs.flatMap(({ value, beside }) => (beside?.value == null ? [] : value - beside.value));
  const { least, greatest } = spread(values);
  const range = runs.length > 1 ? ` (${figure(least)} to ${figure(greatest)})` : '';
  return {
    what,
    measured: `${figure(median(values))} ${unit}${range}`,
    beside: first.beside
      ? besides.length > 0
        ? `${figure(median(besides))} ${unit}: ${first.beside.what}`
        : `not shown: ${first.beside.what}`
      : '',
    ratio: ratios.length > 0 ? figure(median(ratios)) : '',
    aim: aim ? aimText(aim, unit) : '',
    met: aim ? verdict(aim, { value: values, ratio: ratios, difference: differences }[aim.of]) : 'no aim',
  };
}

const longestReason = 160;

/** A row that could not be measured, with the beginning of the reason. */
export function failedLine(what: string, reason: string): Line {
  return {
    what,
    measured: reason.replaceAll('\n', ' ').slice(0, longestReason),
    beside: '',
    ratio: '',
    aim: '',
    met: 'failed',
  };
}

function verdict(aim: Aim, judged: number[]): Line['met'] {
  // Without its peer a ratio is neither met nor missed.
  if (judged.length === 0) return 'no aim';
  const holds = 'most' in aim ? median(judged) <= aim.most : median(judged) >= aim.least;
  return holds ? 'met' : 'not met';
}

function aimText(aim: Aim, unit: string): string {
  const bound = 'most' in aim ? `at most ${figure(aim.most)}` : `at least ${figure(aim.least)}`;
  return { value: `${bound} ${unit}`, ratio: `${bound}, as ratio`, difference: `${bound} ${unit} more` }[aim.of];
}

/** A number as people read it: three figures, thousands apart. */
export function figure(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

/** The lines as a Markdown table. */
export function markdown(lines: readonly Line[]): string {
  const cells = lines.map((line) => [line.what, line.measured, line.beside, line.ratio, line.aim, line.met]);
  return tableOf(['what', 'measured', 'beside', 'ratio', 'aim', ''], cells);
}

/** What the work of the rows used for each unit, as a Markdown table; empty when no row says. */
export function usedTable(rows: readonly Row[]): string {
  const cells = rows.flatMap(({ what, used }) => {
    if (!used) return [];
    const { service, postgres, temporal, transactions } = used.spent;
    const each = [service, postgres, temporal].map((seconds) => figure((seconds * 1_000) / used.n));
    return [[what, used.unit, ...each, figure(transactions / used.n)]];
  });
  if (cells.length === 0) return '';
  return tableOf(
    ['what', 'each', 'API and worker, CPU ms', 'Postgres, CPU ms', 'Temporal, CPU ms', 'transactions'],
    cells,
  );
}

function tableOf(heads: readonly string[], cells: readonly string[][]): string {
  const rows = [[...heads], ...cells.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))];
  const widths = heads.map((_, at) => Math.max(3, ...rows.map((row) => row[at]!.length)));
  const text = rows.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`);
  return [text[0], `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...text.slice(1)].join('\n');
}
