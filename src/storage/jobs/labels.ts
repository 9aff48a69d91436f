import type { Labels } from '../../contracts/labels.js';
import type { Tx } from '../db/db.js';
import { toJsonb } from '../db/json.js';

/** Replaces the given labels of a job; absent ones stay. */
export async function updateLabels(tx: Tx, jobId: string, { name, tags, metadata }: Partial<Labels>): Promise<void> {
  await tx.query(
    `update jobs set name = case when $2 then $3 else name end, tags = coalesce($4, tags),
       metadata = coalesce($5, metadata) where id = $1`,
    [jobId, name !== undefined, name ?? null, tags ?? null, metadata === undefined ? null : toJsonb(metadata)],
  );
}
