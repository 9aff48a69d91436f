import { LRUCache } from 'lru-cache';
import type { Db } from '../../platform/db/db.js';
import type { JobRef } from './events.js';

/** What this process has told, so that not every call writes. */
const told = new LRUCache<string, true>({ max: 10_000 });

/** Adds a warning to a job, once. */
export async function warnJob(db: Db, { orgId, jobId }: JobRef, warning: string): Promise<void> {
  const key = `${jobId} ${warning}`;
  if (told.has(key)) return;
  await db.org(orgId, (tx) =>
    tx.query(
      'update jobs set warnings = array_append(warnings, $2) where id = $1 and not ($2 = any(warnings))',
      [jobId, warning],
      'warn_job',
    ),
  );
  told.set(key, true);
}
