import { childJobId, type JobKind } from '../../core/jobs/kinds.js';
import type { Tx } from '../../platform/db/db.js';

/** The kinds whose jobs start others; see `childJobId`. */
const parentKinds = ['deployment', 'migration', 'checkup'] as const satisfies JobKind[];

/** Whether a job was started by another one, which has ended. */
export async function isParentOver(tx: Tx, jobId: string): Promise<boolean> {
  const [first, last] = [0, 0xffff].map((number) => parentKinds.map((kind) => childJobId(kind, jobId, number)));
  const rows = await tx.query(
    `select 1 from unnest($1::text[], $2::text[]) as parents(first, last)
       join jobs on id between first and last where status in ('completed', 'failed', 'cancelled')`,
    [first, last],
  );
  return rows.length > 0;
}
