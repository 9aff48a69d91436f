import type { Tx } from '../db/db.js';

/** A used-up quota; `subject`: the id of the key or of the organization. */
export interface UsedQuota {
  subject: string;
  limit: number;
  used: number;
}

/**
 * The quota of open jobs that one more would exceed; null: none. Call it in the transaction that
 * opens the job: it locks the limits, so that concurrent creates take turns.
 */
export async function exceededOpenJobs(
  tx: Tx,
  { orgId, keyId }: { orgId: string; keyId: string | null },
): Promise<UsedQuota | null> {
  const limited = await tx.query<{ subject: string; limit: number }>(
    `select subject, open_jobs as "limit" from limits
      where org_id = $1 and subject in ($1, $2) and open_jobs is not null order by subject for update`,
    [orgId, keyId],
  );
  for (const { subject, limit } of limited) {
    const used = await countOpenJobs(tx, { orgId, subject });
    if (used >= limit) return { subject, limit, used };
  }
  return null;
}

/** Open jobs of an organization or of a key, without the evaluations of deployments' gates. */
export async function countOpenJobs(tx: Tx, { orgId, subject }: { orgId: string; subject: string }): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `select count(*) from jobs
      where org_id = $1 and status in ('pending', 'running', 'paused') and key_id is not null and $2 in (org_id, key_id)`,
    [orgId, subject],
  );
  return row!.count;
}
