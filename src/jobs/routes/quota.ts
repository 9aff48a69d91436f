import type { Tx } from '../../platform/db/db.js';
import { exceededQuota } from '../../access/store/quota.js';
import { readSpentQuota } from '../../access/store/spend-quota.js';
import { quotaExceeded } from '../../platform/http/server/limits.js';

/** Refuses to open a job beyond the limit of a key or its organization. */
export async function requireRoomForJob(tx: Tx, owner: { orgId: string; keyId: string | null }): Promise<void> {
  const exceeded = await exceededQuota(tx, owner, 'open_jobs', 1);
  if (!exceeded) return;
  const { used, limit } = exceeded;
  const detail = `has ${used} open jobs, and its limit is ${limit}; cancel one, or wait until one ends.`;
  throw quotaExceeded(owner.orgId, exceeded, { quota: 'open_jobs', detail });
}

/** Refuses to store more than the limit of the organization. */
export async function requireRoomForBytes(tx: Tx, orgId: string, bytes: number): Promise<void> {
  const exceeded = await exceededQuota(tx, { orgId, keyId: null }, 'stored_bytes', bytes);
  if (!exceeded) return;
  const { used, limit } = exceeded;
  const detail = `stores ${used} bytes, its limit is ${limit}, and this adds ${bytes}; delete jobs or data sets.`;
  throw quotaExceeded(orgId, exceeded, { quota: 'stored_bytes', detail });
}

/** Refuses what calls models at once, beyond the dollars of the day. */
export async function requireRoomToSpend(tx: Tx, owner: { orgId: string; keyId: string | null }): Promise<void> {
  const spent = await readSpentQuota(tx, owner);
  if (!spent) return;
  const { used, limit } = spent;
  const detail = `has spent $${used.toFixed(4)} of model calls today (UTC), and spend_usd_per_day is $${limit}; raise it, or wait for the next day.`;
  throw quotaExceeded(owner.orgId, spent, { quota: 'spend_usd_per_day', detail });
}
