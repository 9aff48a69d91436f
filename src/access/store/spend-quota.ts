/**
 * The spend of a UTC day: of jobs in job_usage, of deployments' calls and of deleted jobs in
 * daily_spend. A key's own calls to a job of another key count for both keys, once for the
 * organization.
 */
import type { Payer } from '../../core/jobs/payer.js';
import { ExpiringMap } from '../../util/expiring-map.js';
import { createSharedReads } from '../../util/shared-reads.js';
import type { Db, Tx } from '../../platform/db/db.js';
import { retryTransient, type Patience } from '../../platform/db/patience.js';
import type { JobRef } from '../../jobs/store/events.js';
import { today } from '../../jobs/store/usage.js';
import type { UsedQuota } from './quota.js';

/** SQL of what an organization ($1) or one of its keys has spent today. */
const spentToday = (subject: string) => `(
  select coalesce(sum(u.cost_usd), 0) from job_usage u
   where u.org_id = $1 and u.day = ${today}
     and (${subject} = $1 or exists (select from jobs j where j.id = u.job_id and j.key_id = ${subject}))
) + (
  select coalesce(sum(d.cost_usd), 0) from daily_spend d
   where d.org_id = $1 and d.day = ${today} and ((${subject} = $1 and not d.of_job) or d.key_id = ${subject})
)`;

/** What an organization or a key has spent today, in dollars. */
export async function readSpendToday(tx: Tx, { orgId, subject }: { orgId: string; subject: string }): Promise<number> {
  const [row] = await tx.query<{ spent: number }>(`select ${spentToday('$2')} as spent`, [orgId, subject]);
  return row!.spent;
}

/** A quota of spend that is used up. */
export interface SpentQuota extends UsedQuota {
  secondsLeft: number;
}

/** Whether a call may be made. `isLimited`: a quota holds for it. */
export interface SpendCheck {
  isLimited: boolean;
  /** The quota that is used up; null: none. */
  spent: SpentQuota | null;
}

async function readQuotas(tx: Tx, payer: Payer): Promise<SpentQuota[]> {
  return tx.query<SpentQuota & Record<string, unknown>>(
    `with limited as materialized (
       select subject, spend_usd_per_day as "limit" from limits
        where org_id = $1 and spend_usd_per_day is not null
          and subject in ($1, $2, (select key_id from jobs where id = $3))
     )
     select subject, "limit", ${spentToday('subject')} as used,
            extract(epoch from ${today} + 1 - (now() at time zone 'utc'))::float8 as "secondsLeft"
       from limited order by subject`,
    [payer.orgId, payer.keyId ?? null, payer.jobId ?? null],
    'read_spend_quotas',
  );
}

/** The first quota of an organization or a key that is used up; null: none. */
export async function readSpentQuota(tx: Tx, payer: Payer): Promise<SpentQuota | null> {
  return (await readQuotas(tx, payer)).find(isSpent) ?? null;
}

const isSpent = ({ used, limit }: SpentQuota) => used >= limit;

/** The maximum delay of a new quota. */
const cachedMs = 5_000;
const cachedPayers = 10_000;
const patienceMs = 5_000;

/**
 * Reads the spend anew before each call under a quota; remembers who has none. Rejects where the
 * spend cannot be read.
 */
export function createSpendCheck(
  db: Pick<Db, 'orgApart'>,
  onRetry: Patience['onRetry'],
): (payer: Payer) => Promise<SpendCheck> {
  const unlimited = new ExpiringMap<string, true>(cachedPayers, cachedMs);
  const shared = createSharedReads<SpentQuota[]>();
  return async (payer) => {
    const name = `${payer.orgId} ${payer.jobId ?? ''} ${payer.keyId ?? ''}`;
    if (unlimited.get(name)) return { isLimited: false, spent: null };
    const since = performance.now();
    const read = () => db.orgApart(payer.orgId, (tx) => readQuotas(tx, payer));
    const quotas = await shared(name, () => retryTransient(read, { patienceMs, onRetry }));
    if (quotas.length === 0) unlimited.set(name, true, since);
    return { isLimited: quotas.length > 0, spent: quotas.find(isSpent) ?? null };
  };
}

/** Keeps what a job has spent today beyond its rows. Call it before they are deleted. */
export async function keepSpend(tx: Tx, jobId: string): Promise<void> {
  await tx.query(
    `insert into daily_spend (org_id, day, counter_id, key_id, cost_usd)
     select u.org_id, u.day, gen_random_uuid(), j.key_id, sum(u.cost_usd)
       from job_usage u join jobs j on j.id = u.job_id
      where u.job_id = $1 and u.day = ${today} group by u.org_id, u.day, j.key_id having sum(u.cost_usd) > 0`,
    [jobId],
  );
}

/**
 * Counts a call that `keyId` made to a job of another key. `id`: the call's, a UUID; repeating it
 * changes nothing.
 */
export async function addKeySpend(
  tx: Tx,
  { orgId, jobId }: JobRef,
  { id, keyId, costUsd }: { id: string; keyId: string; costUsd: number },
): Promise<void> {
  await tx.query(
    `insert into daily_spend (org_id, day, counter_id, key_id, cost_usd, of_job)
     select $1, ${today}, $3, $4, $5, true from jobs where id = $2 and key_id is distinct from $4
     on conflict do nothing`,
    [orgId, jobId, id, keyId, costUsd],
    'add_key_spend',
  );
}

/** Counts calls that belong to no job and no deployment. */
export async function addSpend(tx: Tx, { orgId, keyId }: Payer, costUsd: number): Promise<void> {
  await tx.query(
    `insert into daily_spend (org_id, day, counter_id, key_id, cost_usd) values ($1, ${today}, gen_random_uuid(), $2, $3)`,
    [orgId, keyId ?? null, costUsd],
    'add_spend',
  );
}

/** Makes a key the payer of a job from now on; what it has spent today stays with the other. */
export async function changePayer(tx: Tx, { orgId, jobId }: JobRef, keyId: string | null): Promise<void> {
  await tx.query(
    `with spent as (
       select sum(cost_usd) as usd from job_usage where job_id = $2 and day = ${today} having sum(cost_usd) > 0
     ), before as (
       select key_id from jobs where id = $2 and key_id is distinct from $3
     ), moved as (
       insert into daily_spend (org_id, day, counter_id, key_id, cost_usd, of_job)
       select $1, ${today}, gen_random_uuid(), key_id, usd, true from spent, before where key_id is not null
       union all
       select $1, ${today}, gen_random_uuid(), $3, -usd, true from spent, before where $3::text is not null
     )
     update jobs set key_id = $3 where id = $2 and exists (select from before)`,
    [orgId, jobId, keyId],
  );
}
