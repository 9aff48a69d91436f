/** Reads the rows of a job, whatever its kind. */
import type { Answer, Item } from '../../../../src/client/index.js';
import { client } from '../client.js';
import { kindOfRun, type RunKind } from '../kinds.js';
import type { Row, RowAnswer, RowsFilter, RowsPage, RowsSummary } from './types.js';

export interface RowsSource {
  page(filter: RowsFilter, after: string | null, signal?: AbortSignal): Promise<RowsPage>;
  summary(filter: RowsFilter, signal: AbortSignal): Promise<RowsSummary>;
  dataset(filter: RowsFilter, corrected: boolean): Promise<Answer<'createDatasetOfSessionRows'>>;
}

const pageSize = 200;

/** `candidateId`: another one than the best. */
export function rowsOf(id: string, candidateId?: string): RowsSource {
  return sources[kindOfRun(id)](id, candidateId);
}

const sources: Record<RunKind, (id: string, candidateId?: string) => RowsSource> = {
  session: (id, candidateId) => searched(client.value.sessions.handle(id), 'listSessionRows', candidateId),
  graph: (id, candidateId) => searched(client.value.graphs.handle(id), 'listGraphJobRows', candidateId),
  evaluation: evaluated,
};

type Search = Pick<ReturnType<typeof client.value.sessions.handle>, 'id' | 'rowsSummary' | 'rowsDataset'>;

function searched(
  job: Search,
  operation: 'listSessionRows' | 'listGraphJobRows',
  candidate_id: string | undefined,
): RowsSource {
  const path = { session_id: job.id, job_id: job.id };
  return {
    async page(filter, after, signal) {
      const query = { ...filter, candidate_id, limit: pageSize, cursor: after ?? undefined };
      const { data, ...page } = await client.value.request(operation, { path, query, signal });
      return {
        rows: data.map(rowOf),
        total: page.total,
        next: page.next_cursor,
        hasBaseline: page.candidate_id !== page.baseline_candidate_id,
      };
    },
    summary: (filter, signal) => job.rowsSummary({ ...filter, candidate_id }, { signal }),
    dataset: (filter, corrected) =>
      job.rowsDataset({ ...filter, corrected, ...(candidate_id !== undefined && { candidate_id }) }),
  };
}

function rowOf({ row, task_id, baseline, candidate, ...shown }: Item<'listSessionRows'>): Row {
  const name = task_id ?? String(row);
  const { group, seen, input, expected, reviews } = shown;
  const sides = { before: answerOf(baseline), after: answerOf(candidate) };
  return { seed: row, name, group, seen, input, expected, reviews, ...sides };
}

function answerOf(side: Item<'listSessionRows'>['candidate']): RowAnswer | null {
  if (!side) return null;
  const { reward, answer, feedback, error, trace_id: traceId } = side;
  return { reward, answer, feedback, error, traceId };
}

function evaluated(id: string): RowsSource {
  const job = client.value.evaluations.handle(id);
  return {
    async page({ seen: _, ...filter }, after, signal) {
      const offset = Number(after ?? 0);
      const query = { ...filter, include: 'outputs', limit: pageSize, offset } as const;
      const { results, total = 0 } = await job.results(query, { signal });
      const end = offset + results.length;
      const next = results.length > 0 && end < total ? String(end) : null;
      return { rows: results.map(resultRow), total, next, hasBaseline: false };
    },
    summary: ({ seen: _, ...filter }, signal) => job.rowsSummary(filter, { signal }),
    dataset: ({ seen: _, ...filter }, corrected) => job.rowsDataset({ ...filter, corrected }),
  };
}

function resultRow(result: Answer<'getEvaluationResults'>['results'][number]): Row {
  const { seed, group, input = null, expected = null, reward, output = null, feedback = null, error } = result;
  const { reviews = [] } = result;
  const after = { reward, answer: output, feedback, error, traceId: result.trace_id };
  return { seed, name: String(seed), group: group!, seen: null, input, expected, before: null, after, reviews };
}

/** All rows that pass a filter. */
export async function allRows(source: RowsSource, filter: RowsFilter, signal?: AbortSignal): Promise<Row[]> {
  const rows: Row[] = [];
  let after: string | null = null;
  do {
    const page: RowsPage = await source.page(filter, after, signal);
    rows.push(...page.rows);
    after = page.next;
  } while (after !== null);
  return rows;
}
