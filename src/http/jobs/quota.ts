import { exceededBytes } from '../../storage/access/stored-bytes.js';
import type { Tx } from '../../storage/db/db.js';
import { exceededOpenJobs } from '../../storage/jobs/quota.js';
import { quotaExceeded } from '../server/limits.js';

/** Jobs end, and are deleted, at any time. */
const retryAfterS = 60;

/** Refuses to open a job beyond the limit of a key or its organization. */
export async function requireRoomForJob(tx: Tx, owner: { orgId: string; keyId: string | null }): Promise<void> {
  const exceeded = await exceededOpenJobs(tx, owner);
  if (!exceeded) return;
  const { limit } = exceeded;
  throw quotaExceeded(owner.orgId, exceeded, {
    quota: 'open_jobs',
    detail: `has ${exceeded.used} open jobs, and its limit is ${limit}; cancel one, or wait until one ends.`,
    retryAfterS,
  });
}

/** Refuses to store more than the limit of the organization. */
export async function requireRoomForBytes(tx: Tx, orgId: string, bytes: number): Promise<void> {
  const exceeded = await exceededBytes(tx, orgId, bytes);
  if (!exceeded) return;
  const { used, limit } = exceeded;
  throw quotaExceeded(orgId, exceeded, {
    quota: 'stored_bytes',
    detail: `stores ${used} bytes, its limit is ${limit}, and this adds ${bytes}; delete jobs or data sets.`,
    retryAfterS,
  });
}
