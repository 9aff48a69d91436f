import type { Marks } from '../../contracts/labels.js';
import type { Tx } from '../db/db.js';
import { toJsonb } from '../db/json.js';

/** Replaces the given labels of a job, archives or restores it; absent fields stay. */
export async function updateMarks(
  tx: Tx,
  jobId: string,
  { name, tags, metadata, notes, archived }: Partial<Marks>,
): Promise<void> {
  await tx.query(
    `update jobs set name = case when $2 then $3 else name end, tags = coalesce($4, tags),
       metadata = coalesce($5, metadata), notes = case when $6 then $7 else notes end, archived = coalesce($8, archived)
     where id = $1`,
    [
      jobId,
      ...[name !== undefined, name ?? null],
      tags ?? null,
      metadata === undefined ? null : toJsonb(metadata),
      ...[notes !== undefined, notes ?? null],
      archived ?? null,
    ],
  );
}
