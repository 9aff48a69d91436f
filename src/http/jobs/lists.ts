import type { ListQuery } from '../../contracts/common.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import { listJobs, type JobRow } from '../../storage/jobs/jobs.js';
import type { JobFilter } from '../../storage/jobs/list-pages.js';
import type { HttpDeps } from '../deps.js';
import { parseTimeCursor, timedPage, type Page } from '../server/pages.js';

/** A page of the organization's jobs of one kind, newest first. */
export async function listPage<Head, Item>(
  deps: HttpDeps,
  orgId: string,
  kind: JobKind,
  query: ListQuery,
  view: (job: JobRow<Head>) => Item,
): Promise<Page<Item>> {
  const filter: JobFilter = {
    kind,
    state: query.state,
    name: query.name,
    tags: [query.tag ?? []].flat(),
    metadata: query.metadata,
    archived: query.archived,
    createdAfter: dateOf(query.created_after),
    createdBefore: dateOf(query.created_before),
    after: parseTimeCursor(query.cursor),
  };
  const rows = await deps.db.org(orgId, (tx) => listJobs<Head>(tx, filter, query.limit + 1));
  return timedPage(rows, query.limit, ({ jobId }) => jobId, view);
}

/** Postgres does not read every year and offset of ISO 8601. */
const dateOf = (time: string | undefined): Date | undefined => (time === undefined ? undefined : new Date(time));
