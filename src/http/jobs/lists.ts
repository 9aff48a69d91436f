import type { ListQuery } from '../../contracts/common.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import type { JobFilter, JobRow } from '../../storage/jobs/jobs.js';
import { listJobs } from '../../storage/jobs/jobs.js';
import type { HttpDeps } from '../deps.js';
import { refuse } from '../server/errors.js';

/** A page of the organization's jobs of one kind, newest first. */
export async function listPage<Head, Item>(
  deps: HttpDeps,
  orgId: string,
  kind: JobKind,
  query: ListQuery,
  view: (job: JobRow<Head>) => Item,
): Promise<{ data: Item[]; next_cursor: string | null; has_more: boolean }> {
  const filter: JobFilter = {
    kind,
    state: query.state,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    after: query.cursor === undefined ? undefined : decode(query.cursor),
    limit: query.limit + 1,
  };
  const rows = await deps.db.org(orgId, (tx) => listJobs<Head>(tx, filter));
  const shown = rows.slice(0, query.limit);
  const last = shown.at(-1);
  const hasMore = rows.length > query.limit;
  return { data: shown.map(view), next_cursor: hasMore && last ? encode(last) : null, has_more: hasMore };
}

function encode({ position, jobId }: { position: string; jobId: string }): string {
  return Buffer.from(`${position} ${jobId}`).toString('base64url');
}

function decode(cursor: string): { createdAt: string; jobId: string } {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, createdAt = '', jobId = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) (\w+)$/.exec(text) ?? [];
  const time = new Date(createdAt);
  // `Date` turns an invalid day such as February 30 into a day of the next month.
  if (Number.isNaN(time.getTime()) || !createdAt.startsWith(time.toISOString().slice(0, 19))) {
    throw refuse.invalid([{ pointer: '/cursor', message: 'must be a next_cursor of this list' }]);
  }
  return { createdAt, jobId };
}
