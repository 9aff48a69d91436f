import type { z } from 'zod';
import {
  comparedRows,
  countedOf,
  hasOutcome,
  rowFilters,
  type ComparedRow,
  type RowFilterName,
  type RowsColumn,
} from '../../core/comparisons/rows.js';
import type { RowsSpec } from '../../core/jobs/spec.js';
import { mean } from '../../core/math/rewards.js';
import { runsBySeed, type RowRun } from '../../core/rows/collect.js';
import type { CountedSeeds } from '../../core/search/comparison.js';
import type { Tx } from '../../platform/db/db.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { pageOf, wrongCursor } from '../../platform/http/server/pages.js';
import { problems } from '../../platform/http/server/schema.js';
import { readRowTexts, readSeedsWithPart, readRunTexts, type RunTexts } from '../../rows/store/texts.js';
import { storableText } from '../../util/text.js';
import { comparedRowsQuerySchema, comparedRowsSchema } from '../contract/many.js';
import { readRuns, readRunsAfter } from '../../rows/store/runs.js';
import { indexOfId, readColumns, type Columns, type ReadColumn } from './columns.js';

type Page = z.output<typeof comparedRowsSchema>;

/** The rows that the counts of a comparison are of. */
export function registerComparedRows(app: App, { db }: HttpDeps): void {
  app.get(
    '/api/v1/compare/many/rows',
    {
      schema: {
        tags: ['Comparison'],
        operationId: 'listComparedRows',
        summary: 'Rows of a comparison, with the answers of all columns',
        description: 'The rows that its counts are of, and those on which a column failed, by their numbers.',
        querystring: comparedRowsQuerySchema,
        response: { 200: comparedRowsSchema, ...problems(404, 409, 422) },
      },
    },
    (request) => db.org(request.caller.orgId, (tx) => readPage(tx, request.query)),
  );
}

async function readPage(tx: Tx, query: z.output<typeof comparedRowsQuerySchema>): Promise<Page> {
  const { ids, outcome, q, limit } = query;
  const column = query.column === undefined ? null : indexOfId(ids, 'column', query.column);
  const sides = await readColumns(tx, query);
  const filter: Filter = { outcome, column, part: q === undefined ? undefined : storableText(q) };
  const { passing, counted, ofAll } =
    query.cursor === undefined
      ? await readAll(tx, sides, filter)
      : await readAfter(tx, sides, filter, parseCursor(query.cursor, ids.length), limit + 1);
  const page = passing.slice(0, limit + 1);
  const texts = await readTexts(tx, sides, page.slice(0, limit));
  return {
    ...pageOf(
      page,
      limit,
      ({ row: { seed } }) => `after ${seed} ${counted.join(',')}`,
      (shown) => rowView(shown, sides.columns, texts),
    ),
    ...ofAll,
  };
}

interface Filter {
  outcome: RowFilterName | undefined;
  /** null: any. */
  column: number | null;
  part: string | undefined;
}

/** A row with the rollout that is shown of it in each column. */
interface ShownRow {
  row: ComparedRow;
  shown: (string | null)[];
}

interface ReadRows {
  /** Rows that pass the filter. */
  passing: ShownRow[];
  /** Which seeds count in each column. A cursor takes it to the next page, which reads a part. */
  counted: readonly CountedSeeds[];
  ofAll: Pick<Page, 'total' | 'counts'>;
}

async function readAll(tx: Tx, { columns, baseline }: Columns, filter: Filter): Promise<ReadRows> {
  const read: RowRun[][] = [];
  for (const column of columns) read.push(await readRuns(tx, column));
  const rewards = columns.map((column, at) => withRewards(column, read[at]!));
  const counted = countedOf(rewards, baseline);
  const all = comparedRows(rewards, baseline, counted);
  const passing = await readPassing(tx, { columns: rewards, baseline }, all, filter);
  const countOf = (name: RowFilterName) => all.filter((row) => hasOutcome(row, name, filter.column)).length;
  const [won, lost, different, failed] = rowFilters.map(countOf) as [number, number, number, number];
  return {
    passing,
    counted,
    ofAll: { total: passing.length, counts: { all: all.length, won, lost, different, failed } },
  };
}

/** At least `least` rows behind a cursor that pass the filter, if there are so many. */
async function readAfter(
  tx: Tx,
  { columns, baseline }: Columns,
  filter: Filter,
  { after, counted }: Cursor,
  least: number,
): Promise<ReadRows> {
  const passing: ShownRow[] = [];
  for await (const read of readRunsAfter(tx, columns, after, 2 * least)) {
    const rewards = columns.map((column, at) => withRewards(column, read[at]!));
    const rows = comparedRows(rewards, baseline, counted);
    passing.push(...(await readPassing(tx, { columns: rewards, baseline }, rows, filter)));
    if (passing.length >= least) break;
  }
  return { passing, counted, ofAll: { total: null, counts: null } };
}

interface Cursor {
  after: number;
  counted: CountedSeeds[];
}

function parseCursor(cursor: string, columns: number): Cursor {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, seed, list = ''] = /^after (-?\d{1,16}) ((?:all|unselected)(?:,(?:all|unselected))*)$/.exec(text) ?? [];
  const counted = list.split(',') as CountedSeeds[];
  if (seed === undefined || counted.length !== columns) throw wrongCursor();
  return { after: Number(seed), counted };
}

interface RewardsColumn extends ReadColumn, RowsColumn {
  /** The rollout that is shown of a seed. */
  shown: ReadonlyMap<number, string>;
}

function withRewards(column: ReadColumn, runs: readonly RowRun[]): RewardsColumn {
  const rewards = new Map<number, number>();
  const failed = new Set<number>();
  const shown = new Map<number, string>();
  for (const [seed, ofSeed] of runsBySeed(runs)) {
    const reward = mean(ofSeed.rewards);
    if (reward === null) failed.add(seed);
    else rewards.set(seed, reward);
    shown.set(seed, ofSeed.shown);
  }
  return { ...column, rewards, failed, shown };
}

/** Where the texts of rows are. */
const sourceOf = ({ spec }: ReadColumn): RowsSpec | null => (spec.kind === 'graph' ? null : (spec.rows ?? null));

interface RewardsColumns {
  columns: readonly RewardsColumn[];
  baseline: number;
}

async function readPassing(
  tx: Tx,
  { columns, baseline }: RewardsColumns,
  rows: readonly ComparedRow[],
  { outcome, column, part }: Filter,
): Promise<ShownRow[]> {
  const wanted = rows
    .filter((row) => outcome === undefined || hasOutcome(row, outcome, column))
    .map((row) => ({ row, shown: columns.map(({ shown }) => shown.get(row.seed) ?? null) }));
  return part === undefined ? wanted : withPart(tx, columns, baseline, wanted, part);
}

/** The rows of which a text has a part. A column looks only at rows that were not found before. */
async function withPart(
  tx: Tx,
  columns: readonly ReadColumn[],
  baseline: number,
  rows: readonly ShownRow[],
  part: string,
): Promise<ShownRow[]> {
  const found = new Set<number>();
  const baselineFirst = [baseline, ...[...columns.keys()].filter((at) => at !== baseline)];
  for (const at of baselineFirst) {
    const looked = rows
      .filter(({ row }) => !found.has(row.seed))
      .map(({ row, shown }) => ({ seed: row.seed, rolloutId: shown[at]! }));
    const { jobId } = columns[at]!;
    for (const seed of await readSeedsWithPart(tx, jobId, sourceOf(columns[at]!), looked, part)) found.add(seed);
  }
  return rows.filter(({ row }) => found.has(row.seed));
}

interface Texts {
  rows: Awaited<ReturnType<typeof readRowTexts>>;
  /** Of each column. */
  runs: ReadonlyMap<string, RunTexts>[];
}

async function readTexts(tx: Tx, { columns, baseline }: Columns, page: readonly ShownRow[]): Promise<Texts> {
  const first = columns[baseline]!;
  const seeds = page.map(({ row }) => row.seed);
  const rows = await readRowTexts(tx, first.jobId, sourceOf(first), seeds);
  const runs = [];
  for (const [at, { jobId }] of columns.entries()) {
    const wanted = page.flatMap(({ row, shown }) =>
      shown[at] === null ? [] : [{ seed: row.seed, rolloutId: shown[at]! }],
    );
    runs.push(await readRunTexts(tx, jobId, wanted));
  }
  return { rows, runs };
}

function rowView(
  { row: { seed, cells }, shown }: ShownRow,
  columns: readonly ReadColumn[],
  { rows, runs }: Texts,
): Page['data'][number] {
  const texts = rows.get(seed);
  return {
    row: seed,
    task_id: texts?.taskId ?? null,
    input: texts?.input ?? null,
    expected: texts?.expected ?? null,
    cells: cells.map((cell, at) => {
      if (!cell) return null;
      const traceId = shown[at]!;
      const run = runs[at]!.get(traceId);
      return {
        ...cell,
        answer: run?.output ?? null,
        answer_truncated: run?.outputTruncated ?? false,
        feedback: run?.feedback ?? null,
        error: run?.error ?? null,
        job_id: columns[at]!.jobId,
        trace_id: traceId,
      };
    }),
  };
}
