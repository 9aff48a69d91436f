import { median, spread } from './stats.js';
import type { Spent } from './world.js';

/** A row's target: a bound of its value, or of the ratio or difference to the reference. */
type Aim = { of: 'value' | 'ratio' | 'difference' } & ({ most: number } | { least: number });

/** Usage of units of work: CPU seconds of each part, and transactions of Postgres. */
interface Used {
  unit: string;
  n: number;
  spent: Spent;
}

/**
 * A measurement. The reference is the ideal or a peer in the same run and unit; null: not shown.
 */
export interface Row {
  what: string;
  value: number;
  unit: string;
  beside?: { what: string; value: number | null };
  aim?: Aim;
  used?: Used;
  /** Underlying figures, for `--json`. */
  raw?: unknown;
}

/** A row over several runs: medians and spread. */
export interface Line {
  what: string;
  measured: string;
  beside: string;
  ratio: string;
  aim: string;
  met: 'met' | 'not met' | 'no aim' | 'failed';
}

/** Merges a row of several runs. Throws without runs. */
export function mergeRuns(runs: readonly Row[]): Line {
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

/** A row that could not be measured, with the start of the reason. */
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
  // Without the peer a ratio target is undecided.
  if (judged.length === 0) return 'no aim';
  const holds = 'most' in aim ? median(judged) <= aim.most : median(judged) >= aim.least;
  return holds ? 'met' : 'not met';
}

function aimText(aim: Aim, unit: string): string {
  const bound = 'most' in aim ? `at most ${figure(aim.most)}` : `at least ${figure(aim.least)}`;
  return { value: `${bound} ${unit}`, ratio: `${bound}, as ratio`, difference: `${bound} ${unit} more` }[aim.of];
}

/** A readable number: three significant digits, thousands separated. */
export function figure(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

/** The lines as a Markdown table. */
export function markdown(lines: readonly Line[]): string {
  const cells = lines.map((line) => [line.what, line.measured, line.beside, line.ratio, line.aim, line.met]);
  return markdownTable(['what', 'measured', 'beside', 'ratio', 'aim', ''], cells);
}

/** Usage per unit of work as a Markdown table; empty if no row has it. */
export function usedTable(rows: readonly Row[]): string {
  const cells = rows.flatMap(({ what, used }) => {
    if (!used) return [];
    const { service, postgres, temporal, transactions } = used.spent;
    const each = [service, postgres, temporal].map((seconds) => figure((seconds * 1_000) / used.n));
    return [[what, used.unit, ...each, figure(transactions / used.n)]];
  });
  if (cells.length === 0) return '';
  return markdownTable(
    ['what', 'each', 'API and worker, CPU ms', 'Postgres, CPU ms', 'Temporal, CPU ms', 'transactions'],
    cells,
  );
}

export function markdownTable(heads: readonly string[], cells: readonly string[][]): string {
  const rows = [[...heads], ...cells.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))];
  const widths = heads.map((_, at) => Math.max(3, ...rows.map((row) => row[at]!.length)));
  const text = rows.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`);
  return [text[0], `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...text.slice(1)].join('\n');
}
