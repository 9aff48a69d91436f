/** Rows of a search with both answers, counts of them, and data sets of them. */
import type { z } from 'zod';
import { passes, readsTexts, type RowFilter } from '../../core/rows/filter.js';
import { datasetView } from '../../datasets/routes/stored.js';
import type { JobRoute } from '../../jobs/routes/kind.js';
import type { EvaluationHead, GraphHead, JobHead, JobRow, SessionHead } from '../../jobs/store/jobs.js';
import type { Tx } from '../../platform/db/db.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { storableText } from '../../util/text.js';
import { parseSeedCursor, numberedPage } from '../../platform/http/server/pages.js';
import { bodyProblems, problems } from '../../platform/http/server/schema.js';
import {
  resultRowsDatasetSchema,
  resultRowsFilterQuerySchema,
  rowsDatasetAnswerSchema,
  rowsDatasetSchema,
  rowsFilterQuerySchema,
  rowsPageSchema,
  rowsQuerySchema,
  rowsSummarySchema,
} from '../contract/rows.js';
import { storeDataset, type Corrections } from './dataset.js';
import { readPageTexts } from './page-texts.js';
import { readPassingAfter, readSelectable, type RowsOf } from './select.js';
import { rowsOfEvaluation, rowsOfSearch } from './subjects.js';
import { rowView, summaryView } from './view.js';

type Query = z.output<typeof rowsFilterQuerySchema>;
type DatasetRequest = Query & Partial<Corrections>;

export function filterOf({ group, seen, expected, answered, other_answers, feedback, review, q }: Query): RowFilter {
  const part = q === undefined ? undefined : storableText(q);
  return { group, seen, expected, answered, otherAnswers: other_answers, feedback, review, part };
}

/** The routes of a session or graph job. */
export function registerRows(app: App, deps: HttpDeps, route: JobRoute<SessionHead> | JobRoute<GraphHead>): void {
  const { path, params, name, noun, tags, find } = route as JobRoute<SessionHead | GraphHead>;
  app.get(
    `${path}/rows`,
    {
      schema: {
        tags,
        operationId: `list${name}Rows`,
        summary: 'Rows, with the answers of the baseline and of a candidate',
        description: `The rows of ${noun} on which either has run, by their numbers.`,
        params,
        querystring: rowsQuerySchema,
        response: { 200: rowsPageSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const { limit, cursor, ...query } = request.query;
      const job = await find(request);
      return deps.db.org(job.orgId, async (tx) => {
        const of = await rowsOfSearch(tx, job, query);
        const filter = filterOf(query);
        const { rows, total } = await readRows(tx, of, filter, cursor, limit);
        const page = rows.slice(0, limit + 1);
        const texts = await readPageTexts(tx, of, page.slice(0, limit));
        return {
          ...numberedPage(
            page,
            limit,
            ({ seed }) => seed,
            (row) => rowView(row, texts.rows.get(row.seed), texts.runs, request.caller.keyId),
          ),
          total,
          baseline_candidate_id: of.baselineId,
          candidate_id: of.candidateId,
        };
      });
    },
  );
  const schemas = { query: rowsFilterQuerySchema, body: rowsDatasetSchema };
  registerSets(app, deps, route as JobRoute<SessionHead | GraphHead>, `${path}/rows`, schemas, rowsOfSearch);
}

/** The rows of a page and those behind it; `total`: of the first page. */
async function readRows(tx: Tx, of: RowsOf, filter: RowFilter, cursor: string | undefined, limit: number) {
  const after = parseSeedCursor(cursor);
  // The columns of the label table are of all rows.
  if (cursor !== undefined && !readsTexts(filter))
    return { rows: await readPassingAfter(tx, of, filter, after, limit + 1), total: null };
  const { rows } = await readSelectable(tx, of, filter);
  const passing = rows.filter((row) => passes(row, filter));
  return { rows: passing.filter(({ seed }) => seed > after), total: cursor === undefined ? passing.length : null };
}

/** The routes of an evaluation, beside its results. */
export function registerResultRows(app: App, deps: HttpDeps, route: JobRoute<EvaluationHead>): void {
  const schemas = { query: resultRowsFilterQuerySchema, body: resultRowsDatasetSchema };
  registerSets(app, deps, route, `${route.path}/results`, schemas, (_tx, job) => rowsOfEvaluation(job));
}

/** The summary of rows, and data sets of them. */
function registerSets<Head extends JobHead>(
  app: App,
  deps: HttpDeps,
  { name, params, tags, find }: JobRoute<Head>,
  base: string,
  schemas: { query: z.ZodType<Query>; body: z.ZodType<DatasetRequest | null | undefined> },
  rowsOf: (tx: Tx, job: JobRow<Head>, query: Query) => RowsOf | Promise<RowsOf>,
): void {
  app.get(
    `${base}/summary`,
    {
      schema: {
        tags,
        operationId: `get${name}RowsSummary`,
        summary: 'Rows by group, by label and by feedback',
        description: 'Each count leaves out its own part of the filter.',
        params,
        querystring: schemas.query,
        response: { 200: rowsSummarySchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const job = await find(request);
      const filter = filterOf(request.query);
      return deps.db.org(job.orgId, async (tx) =>
        summaryView(await readSelectable(tx, await rowsOf(tx, job, request.query), filter, true), filter),
      );
    },
  );

  app.post(
    `${base}/dataset`,
    {
      schema: {
        tags,
        operationId: `createDatasetOf${name}Rows`,
        summary: 'Make a data set of rows',
        description:
          'Of those that pass the filter, with the columns of the job. A task of a graph job becomes a row of its fields, `expected` and `task_id`. A data set with corrected rows is named after the job.',
        params,
        body: schemas.body,
        response: { 200: rowsDatasetAnswerSchema, 201: rowsDatasetAnswerSchema, ...bodyProblems(404, 409) },
      },
      // The same rows are the same data set.
      config: { idempotency: 'none' },
    },
    async (request, reply) => {
      const query = request.body ?? {};
      const job = await find(request);
      const of = await deps.db.org(job.orgId, async (tx) => rowsOf(tx, job, query));
      const { corrected = false, bad_expected = 'leave_out' } = query;
      const made = await storeDataset(deps.db, job, of, { filter: filterOf(query), corrected, bad_expected });
      const counts = { corrected: made.corrected, left_out: made.leftOut };
      return reply.code(made.isNew ? 201 : 200).send({ ...datasetView(made.dataset), ...counts });
    },
  );
}
