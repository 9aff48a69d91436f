import type { Tx } from '../../platform/db/db.js';

/** Takes the job's lease for `seconds` with a new fencing token; null: another runner holds it. */
export async function acquireLease(tx: Tx, jobId: string, owner: string, seconds: number): Promise<number | null> {
  const [row] = await tx.query<{ lease_token: number }>(
    `update job_controls
        set lease_token = lease_token + 1, lease_owner = $2, lease_expires_at = clock_timestamp() + make_interval(secs => $3)
      where job_id = $1 and (lease_owner is null or lease_expires_at < clock_timestamp())
      returning lease_token`,
    [jobId, owner, seconds],
    'acquire_lease',
  );
  return row?.lease_token ?? null;
}

/** Extends a held lease by `seconds`; false: another runner has taken it. */
export async function renewLease(tx: Tx, jobId: string, token: number, seconds: number): Promise<boolean> {
  const rows = await tx.query(
    `update job_controls set lease_expires_at = clock_timestamp() + make_interval(secs => $3)
      where job_id = $1 and lease_token = $2 returning 1 as held`,
    [jobId, token, seconds],
    'renew_lease',
  );
  return rows.length > 0;
}

/** Releases the lease, so that the next runner need not wait for its expiry. */
export async function releaseLease(tx: Tx, jobId: string, token: number): Promise<void> {
  await tx.query(
    'update job_controls set lease_owner = null, lease_expires_at = null where job_id = $1 and lease_token = $2',
    [jobId, token],
    'release_lease',
  );
}
