/** A data set of the rows that pass a filter, with people's corrections if asked for. */
import { counted } from '../../core/math/words.js';
import { correctionsOf, type Correction } from '../../core/reviews/corrections.js';
import { passes, type RowFilter } from '../../core/rows/filter.js';
import { storeRows } from '../../datasets/routes/stored.js';
import type { JobHead, JobRow } from '../../jobs/store/jobs.js';
import type { Db } from '../../platform/db/db.js';
import { ApiError } from '../../platform/http/server/errors.js';
import { cutWithin } from '../../util/text.js';
import { readReviews } from '../../reviews/store/reviews.js';
import { readDatasetLines, readTaskLines } from '../store/dataset-lines.js';
import { readSelectable, type RowsOf } from './select.js';

/** Characters of a job's name in the name of a data set of its rows. */
const mostOfName = 100;

/** Rows that are read at a time. */
const batch = 1_000;

/** What becomes of rows that people corrected, or whose expected value they call wrong. */
export interface Corrections {
  corrected: boolean;
  bad_expected: 'leave_out' | 'keep';
}

/** Throws if no row is left, or the rows are in the job's container. */
export async function storeDataset(
  db: Db,
  { orgId, spec, name: job }: JobRow<JobHead>,
  of: RowsOf,
  { filter, corrected, bad_expected }: Corrections & { filter: RowFilter },
) {
  const { jobId } = of;
  const source = spec.rows ?? null;
  if (source === null && spec.kind !== 'graph') {
    const detail = `The rows of ${jobId} are in its container, not in a data set. Take them from there by their numbers.`;
    throw new ApiError(409, 'rows_in_container', detail);
  }
  const { rows, corrections } = await db.org(orgId, async (tx) => ({
    rows: (await readSelectable(tx, of, filter)).rows,
    corrections: corrected ? correctionsOf(await readReviews(tx, jobId)) : new Map<number, Correction>(),
  }));
  const passing = rows.filter((row) => passes(row, filter)).map(({ seed }) => seed);
  const isLost = ({ isBad, corrected: text }: Correction) => bad_expected === 'leave_out' && isBad && text === null;
  const chosen = passing.filter((seed) => !(corrections.has(seed) && isLost(corrections.get(seed)!)));
  if (chosen.length === 0) throw noRows(jobId, passing.length);
  const column = source === null ? 'expected' : (source.expected ?? 'expected');
  const read = async (seeds: readonly number[]) => {
    const lines = await db.org(orgId, (tx) =>
      source === null ? readTaskLines(tx, jobId, seeds) : readDatasetLines(tx, source.datasetId, seeds),
    );
    return lines.map((line, at) => withExpected(line, column, corrections.get(seeds[at]!)?.corrected ?? null));
  };
  const count = chosen.filter((seed) => (corrections.get(seed)?.corrected ?? null) !== null).length;
  const origin = `${job === null ? jobId : cutWithin(job, mostOfName)}: ${counted(chosen.length, 'row')}`;
  const name = count > 0 ? `${origin}, ${count} corrected by reviews` : origin;
  const stored = await storeRows(db, orgId, 'jsonl', linesOf(chosen, read), name);
  return { ...stored, corrected: count, leftOut: passing.length - chosen.length };
}

function noRows(jobId: string, passing: number): ApiError {
  const why =
    passing === 0
      ? `No row of ${jobId} passes the filter. Widen it.`
      : `People call the expected values of all ${passing} rows wrong and corrected none. Correct some, or set bad_expected to keep.`;
  return new ApiError(404, 'no_rows', why);
}

/** A row with another expected value; null: as it is. */
function withExpected(line: string, column: string, corrected: string | null): string {
  if (corrected === null) return line;
  return JSON.stringify({ ...(JSON.parse(line) as Record<string, unknown>), [column]: corrected });
}

async function* linesOf(
  seeds: readonly number[],
  read: (seeds: readonly number[]) => Promise<string[]>,
): AsyncGenerator<Buffer> {
  for (let from = 0; from < seeds.length; from += batch)
    for (const line of await read(seeds.slice(from, from + batch))) yield Buffer.from(`${line}\n`);
}
