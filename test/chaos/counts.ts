import type { Evidence } from '../harness/evidence/evidence.js';
import { rules } from '../harness/rules/checker.js';

/** Faults of a release, by the kinds of round that count them. */
export const fullCounts: Readonly<Record<string, number>> = {
  'all-worker': 200,
  'all-api': 100,
  'all-temporal': 20,
  'all-postgres': 30,
  'all-streams': 1_000,
  'all-disk': 5,
  'all-operator': 50,
};

/** What a round adds to the table of a counted run. */
export interface Tally {
  count: number;
  /** Jobs open at each fault. */
  open: number[];
  jobs: number;
  /** Milliseconds from the last fault that a job met to its end; the slowest. null: no end. */
  slowestMs: number | null;
  lost: number;
  boughtAgain: number;
  /** Other violations. */
  other: number;
}

export function tallyOf(evidence: Evidence): Tally {
  const { strikes, jobs } = evidence;
  const broken = (costs: string | undefined) =>
    rules.filter((rule) => rule.costs === costs).reduce((sum, rule) => sum + rule.broken(evidence).length, 0);
  const ends = jobs.map(({ completedAt }) => {
    if (completedAt === null) return Infinity;
    const met = strikes.map(({ until }) => until).filter((until) => until <= completedAt);
    return met.length > 0 ? completedAt - Math.max(...met) : 0;
  });
  const slowest = Math.max(0, ...ends);
  return {
    count: strikes.reduce((sum, { count }) => sum + count, 0),
    open: strikes.map(({ open }) => open),
    jobs: jobs.length,
    slowestMs: Number.isFinite(slowest) ? slowest : null,
    lost: broken('loss'),
    boughtAgain: broken('purchase'),
    other: broken(undefined),
  };
}

/** `full`, or `all-worker=10 all-api=5`. Throws if it is neither. */
export function readCounts(given: readonly string[]): Record<string, number> {
  if (given.length === 1 && given[0] === 'full') return fullCounts;
  return Object.fromEntries(
    given.map((text) => {
      const [, kind, count] = /^([\w-]+)=([1-9]\d*)$/.exec(text) ?? [];
      if (!kind || !(kind in fullCounts)) {
        throw new Error(
          `--counts takes "full", or counts as in all-worker=10 of ${Object.keys(fullCounts).join(', ')}`,
        );
      }
      return [kind, Number(count)];
    }),
  );
}

/** The table of a counted run in Markdown. */
export function countsTable(counts: Record<string, number>, tallies: readonly (Tally & { kind: string })[]): string {
  const rows = Object.entries(counts).map(([kind, wanted]) => {
    const own = tallies.filter((tally) => tally.kind === kind);
    const sum = (of: (tally: Tally) => number) => own.reduce((total, tally) => total + of(tally), 0);
    const open = own.flatMap((tally) => tally.open).sort((a, b) => a - b);
    const slowest = own.map(({ slowestMs }) => slowestMs ?? Infinity);
    return [
      kind.replace('all-', ''),
      `${sum(({ count }) => count)} of ${wanted}`,
      `${own.length}`,
      `${sum(({ jobs }) => jobs)}`,
      open.length > 0 ? `${open[0]} to ${open.at(-1)}` : '',
      ...[sum(({ lost }) => lost), sum(({ boughtAgain }) => boughtAgain), sum(({ other }) => other)].map(String),
      own.length > 0 ? `${(Math.max(...slowest) / 1_000).toFixed(1)} s` : '',
    ];
  });
  const head = [
    'fault',
    'count',
    'rounds',
    'jobs',
    'open at a fault',
    'lost',
    'bought again',
    'other',
    'longest to terminal',
  ];
  const widths = head.map((text, at) => Math.max(text.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}
