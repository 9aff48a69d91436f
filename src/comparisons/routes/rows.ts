import type { z } from 'zod';
import {
  comparedRows,
  hasOutcome,
  rowFilters,
  type ComparedRow,
  type RowFilterName,
  type RowsColumn,
} from '../../core/comparisons/rows.js';
import type { RowsSpec } from '../../core/jobs/spec.js';
import { mean } from '../../core/math/rewards.js';
import { runsBySeed } from '../../core/rows/collect.js';
import type { Tx } from '../../platform/db/db.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { numberedPage, parseSeedCursor } from '../../platform/http/server/pages.js';
import { problems } from '../../platform/http/server/schema.js';
import { readRowTexts, readSeedsWithPart, readRunTexts, type RunTexts } from '../../rows/store/texts.js';
import { storableText } from '../../util/text.js';
import { comparedRowsQuerySchema, comparedRowsSchema } from '../contract/many.js';
import { readRuns } from '../../rows/store/runs.js';
import type { Compared } from './compared.js';
import { indexOfId, readColumns, type ReadColumn } from './columns.js';

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
  const after = parseSeedCursor(query.cursor);
  const column = query.column === undefined ? null : indexOfId(ids, 'column', query.column);
  const { columns, baseline } = await readColumns(tx, query, (compared) => readRewards(tx, compared));
  const all = comparedRows(columns, baseline);
  const wanted = outcome === undefined ? all : all.filter((row) => hasOutcome(row, outcome, column));
  const passing = q === undefined ? wanted : await withPart(tx, columns, baseline, wanted, storableText(q));
  const page = passing.filter(({ seed }) => seed > after).slice(0, limit + 1);
  const texts = await readTexts(tx, columns, baseline, page.slice(0, limit));
  const countOf = (name: RowFilterName) => all.filter((row) => hasOutcome(row, name, column)).length;
  const [won, lost, different, failed] = rowFilters.map(countOf) as [number, number, number, number];
  return {
    ...numberedPage(
      page,
      limit,
      ({ seed }) => seed,
      (row) => rowView(row, columns, texts),
    ),
    total: passing.length,
    counts: { all: all.length, won, lost, different, failed },
  };
}

type Rewards = Pick<RowsColumn, 'rewards' | 'failed'> & {
  /** The rollout that is shown of a seed. */
  shown: ReadonlyMap<number, string>;
};
type RewardsColumn = ReadColumn<Rewards>;

async function readRewards(tx: Tx, { jobId, candidateId }: Compared): Promise<Rewards> {
  const seeds = [...runsBySeed(await readRuns(tx, jobId, candidateId))];
  const means = seeds.map(([seed, { rewards }]) => ({ seed, reward: mean(rewards) }));
  return {
    rewards: new Map(
      means.flatMap(({ seed, reward }): [number, number][] => (reward === null ? [] : [[seed, reward]])),
    ),
    failed: new Set(means.flatMap(({ seed, reward }) => (reward === null ? [seed] : []))),
    shown: new Map(seeds.map(([seed, { shown }]) => [seed, shown])),
  };
}

/** Where the texts of rows are. */
const sourceOf = ({ spec }: RewardsColumn): RowsSpec | null => (spec.kind === 'graph' ? null : (spec.rows ?? null));

/** The rows of which a text has a part. A column looks only at rows that were not found before. */
async function withPart(
  tx: Tx,
  columns: readonly RewardsColumn[],
  baseline: number,
  rows: readonly ComparedRow[],
  part: string,
): Promise<ComparedRow[]> {
  const found = new Set<number>();
  const baselineFirst = [columns[baseline]!, ...columns.filter((_, at) => at !== baseline)];
  for (const column of baselineFirst) {
    const looked = rows
      .filter(({ seed }) => !found.has(seed))
      .map(({ seed }) => ({ seed, rolloutId: column.shown.get(seed) ?? null }));
    for (const seed of await readSeedsWithPart(tx, column.jobId, sourceOf(column), looked, part)) found.add(seed);
  }
  return rows.filter(({ seed }) => found.has(seed));
}

interface Texts {
  rows: Awaited<ReturnType<typeof readRowTexts>>;
  /** Of each column. */
  runs: ReadonlyMap<string, RunTexts>[];
}

async function readTexts(
  tx: Tx,
  columns: readonly RewardsColumn[],
  baseline: number,
  page: readonly ComparedRow[],
): Promise<Texts> {
  const first = columns[baseline]!;
  const seeds = page.map(({ seed }) => seed);
  const rows = await readRowTexts(tx, first.jobId, sourceOf(first), seeds);
  const runs = [];
  for (const { jobId, shown } of columns) {
    const wanted = seeds.flatMap((seed) => (shown.has(seed) ? [{ seed, rolloutId: shown.get(seed)! }] : []));
    runs.push(await readRunTexts(tx, jobId, wanted));
  }
  return { rows, runs };
}

function rowView(
  { seed, cells }: ComparedRow,
  columns: readonly RewardsColumn[],
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
      const { jobId, shown } = columns[at]!;
      const traceId = shown.get(seed)!;
      const run = runs[at]!.get(traceId);
      return {
        ...cell,
        answer: run?.output ?? null,
        answer_truncated: run?.outputTruncated ?? false,
        feedback: run?.feedback ?? null,
        error: run?.error ?? null,
        job_id: jobId,
        trace_id: traceId,
      };
    }),
  };
}
