import { readStoredBytes } from './stored-bytes.js';
import type { Tx } from '../../platform/db/db.js';

/** A used-up quota; `subject`: the id of the key or of the organization. */
export interface UsedQuota {
  subject: string;
  limit: number;
  used: number;
}

/** What an organization or one of its keys uses of the quotas that requests add to. */
const usedOf = {
  open_jobs: countOpenJobs,
  stored_bytes: (tx: Tx, { orgId }: { orgId: string }) => readStoredBytes(tx, orgId),
};

/**
 * The first limit of a key or its organization that `adds` more would exceed; null: none. Call it
 * in the transaction that adds them: it locks the limits, so that concurrent requests take turns.
 */
export async function exceededQuota(
  tx: Tx,
  { orgId, keyId }: { orgId: string; keyId: string | null },
  quota: keyof typeof usedOf,
  adds: number,
): Promise<UsedQuota | null> {
  const limited = await tx.query<{ subject: string; limit: number }>(
    `select subject, ${quota} as "limit" from limits
      where org_id = $1 and subject in ($1, $2) and ${quota} is not null order by subject for update`,
    [orgId, keyId],
  );
  for (const { subject, limit } of limited) {
    const used = await usedOf[quota](tx, { orgId, subject });
    if (used + adds > limit) return { subject, limit, used };
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
