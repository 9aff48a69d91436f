/**
 * What an organization stores, without a scan: `stored_bytes` has the days that do not change any
 * more, so a sum reads the last two days of job_usage, and the sizes of the data sets.
 */
import type { Tx } from '../../platform/db/db.js';
import type { JobRef } from '../../jobs/store/events.js';
import { requestShard, today } from '../../jobs/store/usage.js';

/** SQL of the last day that no transaction adds to: one that began yesterday may commit today. */
const settled = `${today} - 2`;

/** Bytes of an organization: data sets, requests that made jobs, and recorded model calls. */
export async function readStoredBytes(tx: Tx, orgId: string): Promise<number> {
  await settleDays(tx, orgId);
  const [row] = await tx.query<{ bytes: number }>(
    `select (s.bytes
             + coalesce((select sum(u.bytes) from job_usage u where u.org_id = $1 and u.day > s.through), 0)
             + coalesce((select sum(d.bytes) from datasets d where d.org_id = $1), 0))::bigint as bytes
       from stored_bytes s where s.org_id = $1`,
    [orgId],
  );
  return row!.bytes;
}

/** Lock first: the next statement must see what other transactions settled or deleted. */
async function lockSum(tx: Tx, orgId: string): Promise<void> {
  await tx.query(
    `insert into stored_bytes (org_id, through, bytes) values ($1, '-infinity', 0) on conflict do nothing`,
    [orgId],
  );
  await tx.query('select 1 from stored_bytes where org_id = $1 for update', [orgId]);
}

/** Adds the days that are over to the organization's sum. */
async function settleDays(tx: Tx, orgId: string): Promise<void> {
  const isSettled = `select 1 from stored_bytes where org_id = $1 and through >= ${settled}`;
  if ((await tx.query(isSettled, [orgId])).length > 0) return;
  await lockSum(tx, orgId);
  await tx.query(
    `update stored_bytes s
        set through = ${settled},
            bytes = s.bytes + coalesce((select sum(u.bytes) from job_usage u
                                         where u.org_id = $1 and u.day > s.through and u.day <= ${settled}), 0)
      where s.org_id = $1 and s.through < ${settled}`,
    [orgId],
  );
}

/**
 * Takes the bytes of a job from its organization's sum: all of them, or those of its calls. Call it
 * before its rows are deleted.
 */
export async function forgetBytes(tx: Tx, { orgId, jobId }: JobRef, which: 'all' | 'calls'): Promise<void> {
  await lockSum(tx, orgId);
  const lowest = which === 'all' ? requestShard : 0;
  await tx.query(
    `update stored_bytes s
        set bytes = s.bytes - coalesce((select sum(u.bytes) from job_usage u
                                         where u.job_id = $2 and u.shard >= $3 and u.day <= s.through), 0)
      where s.org_id = $1`,
    [orgId, jobId, lowest],
  );
  await tx.query('update job_usage set bytes = 0 where job_id = $1 and shard >= $2', [jobId, lowest]);
}
