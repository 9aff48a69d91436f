/** A data set of the rows that pass a filter. */
import { passes, type RowFilter } from '../../core/rows/filter.js';
import { storeRows } from '../../datasets/routes/stored.js';
import type { JobHead, JobRow } from '../../jobs/store/jobs.js';
import type { Db } from '../../platform/db/db.js';
import { ApiError } from '../../platform/http/server/errors.js';
import { readDatasetLines, readTaskLines } from '../store/dataset-lines.js';
import { readSelectable, type RowsOf } from './select.js';

/** Rows that are read at a time. */
const batch = 1_000;

/** Throws if no row passes, or the rows are in the job's container. */
export async function storeDataset(db: Db, { orgId, kind }: JobRow<JobHead>, of: RowsOf, filter: RowFilter) {
  const { jobId, source } = of;
  if (source === null && kind !== 'graph') {
    const detail = `The rows of ${jobId} are in its container, not in a data set. Take them from there by their numbers.`;
    throw new ApiError(409, 'rows_in_container', detail);
  }
  const { rows } = await db.org(orgId, (tx) => readSelectable(tx, of, filter));
  const chosen = rows.filter((row) => passes(row, filter)).map(({ seed }) => seed);
  if (chosen.length === 0) throw new ApiError(404, 'no_rows', `No row of ${jobId} passes the filter. Widen it.`);
  const read = (seeds: readonly number[]) =>
    db.org(orgId, (tx) =>
      source === null ? readTaskLines(tx, jobId, seeds) : readDatasetLines(tx, source.datasetId, seeds),
    );
  return storeRows(db, orgId, 'jsonl', linesOf(chosen, read));
}

async function* linesOf(
  seeds: readonly number[],
  read: (seeds: readonly number[]) => Promise<string[]>,
): AsyncGenerator<Buffer> {
  for (let from = 0; from < seeds.length; from += batch)
    for (const line of await read(seeds.slice(from, from + batch))) yield Buffer.from(`${line}\n`);
}
