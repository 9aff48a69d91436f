import type { ListQuery } from '../../contracts/common.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import { listJobs, type ListedJob } from '../store/jobs.js';
import type { JobFilter } from '../store/list-pages.js';
import { readCosts } from '../store/usage.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { parseTimeCursor, timedPage, type Page } from '../../platform/http/server/pages.js';

/** A page of the organization's jobs of one kind, newest first. `view` also gets a job's cost. */
export async function listPage<Head, Item>(
  deps: HttpDeps,
  orgId: string,
  kind: JobKind,
  query: ListQuery,
  view: (job: ListedJob<Head>, totalCostUsd: number | null) => Item,
): Promise<Page<Item>> {
  const filter: JobFilter = { ...marksOf(query), kind, after: parseTimeCursor(query.cursor) };
  const { rows, costs } = await deps.db.org(orgId, async (tx) => {
    const rows = await listJobs<Head>(tx, filter, query.limit + 1);
    const costs = await readCosts(
      tx,
      rows.map(({ jobId }) => jobId),
    );
    return { rows, costs };
  });
  return timedPage(
    rows,
    query.limit,
    ({ jobId }) => jobId,
    (job) => view(job, costs.get(job.jobId) ?? null),
  );
}

type MarksQuery = Pick<
  ListQuery,
  'state' | 'name' | 'metadata' | 'archived' | 'created_by' | 'created_after' | 'created_before' | 'tag'
>;

/** The filter that all lists of jobs have. */
export function marksOf(query: MarksQuery) {
  return {
    state: query.state,
    name: query.name,
    tags: [query.tag ?? []].flat(),
    metadata: query.metadata,
    archived: query.archived,
    createdBy: query.created_by,
    createdAfter: dateOf(query.created_after),
    createdBefore: dateOf(query.created_before),
  };
}

/** Postgres does not read every year and offset of ISO 8601. */
const dateOf = (time: string | undefined): Date | undefined => (time === undefined ? undefined : new Date(time));
