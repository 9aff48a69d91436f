/** What the judge of a name has done, the dollars of its day, and who works for it. */
import { today } from '../../../jobs/store/usage.js';
import type { Tx } from '../../../platform/db/db.js';
import { toJsonb } from '../../../platform/db/json.js';
import type { JudgeSettings } from '../contract/judge.js';

/** A name whose answers a judge scores. */
export interface JudgedName {
  orgId: string;
  name: string;
}

/** Names with answers to judge for which no worker works, of all organizations. */
export async function readDueJudges(tx: Tx, limit: number): Promise<JudgedName[]> {
  return tx.query<JudgedName & Record<string, unknown>>('select org_id as "orgId", name from due_judges($1)', [limit]);
}

const ofName = `org_id = current_setting('app.org') and name = $1`;

/** SQL of how the judge of name $1 scores now. */
const scorer = `(select v.settings->'judge'->'scorer' from deployment_versions v where v.${ofName})`;
/** SQL of the dollars of a day of the judge of name $1; without a limit infinity. */
const maxUsd = `(select coalesce((v.settings->'judge'->>'max_cost_usd_per_day')::float8, 'infinity')
                   from deployment_versions v where v.${ofName})`;

/** SQL of whether the dollars of the day of judge `j` are used up. A higher limit opens it. */
export const isUsedUp = (j: string) => `(${j}.used_up_usd is not null and ${j}.day = ${today} and ${j}.used_up_usd >=
  coalesce((select (v.settings->'judge'->>'max_cost_usd_per_day')::float8 from deployment_versions v
             where v.org_id = ${j}.org_id and v.name = ${j}.name), 'infinity'))`;

/** Begins the counts of a name. */
export async function addJudge(tx: Tx, name: string): Promise<void> {
  await tx.query(
    `insert into deployment_judges (org_id, name) values (current_setting('app.org'), $1) on conflict do nothing`,
    [name],
  );
}

/** How a name is judged now; null: not any more. */
export async function readJudge(tx: Tx, name: string): Promise<JudgeSettings['scorer'] | null> {
  const [row] = await tx.query<{ scorer: JudgeSettings['scorer'] | null }>(`select ${scorer} as scorer`, [name]);
  return row?.scorer ?? null;
}

/** Takes or renews the lease of a name for `seconds`; null: another worker has it. */
export async function leaseJudge(tx: Tx, name: string, token: number | null, seconds: number): Promise<number | null> {
  const [row] = await tx.query<{ token: number }>(
    `update deployment_judges set lease_token = lease_token + case when $2::bigint is null then 1 else 0 end,
            leased_until = clock_timestamp() + make_interval(secs => $3)
      where ${ofName} and case when $2::bigint is null then leased_until is null or leased_until < clock_timestamp()
                               else lease_token = $2 end
     returning lease_token as token`,
    [name, token, seconds],
  );
  return row?.token ?? null;
}

/** Gives the lease back. */
export async function releaseJudge(tx: Tx, name: string, token: number): Promise<void> {
  await tx.query(`update deployment_judges set leased_until = null where ${ofName} and lease_token = $2`, [
    name,
    token,
  ]);
}

/** A try without a score. */
export interface JudgeFailure {
  code: string;
  message: string;
}

/** Counts what became of an answer. `failure` alone: it is tried again. */
export async function countJudged(
  tx: Tx,
  name: string,
  { judged = 0, failed = 0, failure }: { judged?: number; failed?: number; failure?: JudgeFailure },
): Promise<void> {
  await tx.query(
    `update deployment_judges set judged = judged + $2, failed = failed + $3, last_failure = coalesce($4::jsonb, last_failure)
      where ${ofName}`,
    [name, judged, failed, failure ? toJsonb({ ...failure, at: new Date().toISOString() }) : null],
  );
}

/** Counts samples that are not judged. */
export async function countDropped(tx: Tx, orgId: string, name: string, dropped: number): Promise<void> {
  if (dropped === 0) return;
  await tx.query(
    `insert into deployment_judges as j (org_id, name, dropped) values ($1, $2, $3)
     on conflict (org_id, name) do update set dropped = j.dropped + excluded.dropped`,
    [orgId, name, dropped],
  );
}

const spentToday = `case when day = ${today} then day_usd else 0 end`;

/** Reserves dollars of the day for a call; returns the day. null: too few are left. */
export async function reserveUsd(tx: Tx, name: string, usd: number): Promise<string | null> {
  const [row] = await tx.query<{ day: string }>(
    `update deployment_judges set day_usd = ${spentToday} + $2, used_up_usd = case when day = ${today} then used_up_usd end,
            day = ${today}
      where ${ofName} and ${spentToday} + $2 <= ${maxUsd}
     returning day::text`,
    [name, usd],
  );
  return row?.day ?? null;
}

/** The day's dollars are used up, at the limit of now. */
export async function closeDay(tx: Tx, name: string): Promise<void> {
  await tx.query(
    `update deployment_judges set used_up_usd = ${maxUsd}, day_usd = ${spentToday}, day = ${today} where ${ofName}`,
    [name],
  );
}

/** A reservation, and what its call has cost; null: unknown, which counts in full. */
export interface SettledCall {
  day: string;
  reservedUsd: number;
  costUsd: number | null;
}

/** Counts the cost of a call in place of its reservation, also as spend of the organization. */
export async function settleUsd(tx: Tx, name: string, { day, reservedUsd, costUsd }: SettledCall): Promise<void> {
  await tx.query(
    `with settled as (
       update deployment_judges set day_usd = case when day = $2::date then greatest(0, day_usd + $4::float8 - $3::float8) else day_usd end
        where ${ofName} returning org_id, counter_id)
     insert into daily_spend as s (org_id, day, counter_id, key_id, cost_usd)
     select org_id, ${today}, counter_id, null, $5 from settled where $5::float8 > 0
     on conflict (org_id, day, counter_id) do update set cost_usd = s.cost_usd + excluded.cost_usd`,
    [name, day, reservedUsd, costUsd ?? reservedUsd, costUsd ?? 0],
  );
}

/** What the judge of a name has done. */
export interface JudgeState extends Record<string, unknown> {
  judged: number;
  failed: number;
  dropped: number;
  waiting: number;
  lastFailure: (JudgeFailure & { at: string }) | null;
  spentUsd: number;
  isUsedUp: boolean;
}

/** null: the name has no judge. */
export async function readJudgeState(tx: Tx, name: string): Promise<JudgeState | null> {
  const [row] = await tx.query<JudgeState>(
    `select judged, failed, dropped, last_failure as "lastFailure", ${spentToday} as "spentUsd", ${isUsedUp('j')} as "isUsedUp",
            (select count(*) from deployment_judgements a where a.org_id = j.org_id and a.name = j.name) as waiting
       from deployment_judges j where ${ofName} and ${scorer} is not null`,
    [name],
  );
  return row ?? null;
}
