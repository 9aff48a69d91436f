/** The end of an organization: its keys first, then its jobs, then the rest. */
import { deleteOldAnswers } from '../../access/store/idempotency.js';
import { readStoredBytes } from '../../access/store/stored-bytes.js';
import type { Db, Tx } from '../../platform/db/db.js';
import { today } from '../../jobs/store/usage.js';
import type { JobRef } from '../../jobs/store/events.js';
import { keptMs, periods, type Period } from '../../core/deployments/periods.js';
import { deleteRequests, readDeploymentsWithTexts } from '../../kinds/deployment/store/logged-requests.js';
import { deleteBatches } from './batches.js';

/**
 * Marks an organization, revokes its keys and ends its schedules. `mismatch`: it has another name.
 */
export async function markOrg(tx: Tx, id: string, name: string): Promise<'marked' | 'mismatch' | 'unknown'> {
  const [org] = await tx.query<{ name: string }>('select name from orgs where id = $1 for update', [id]);
  if (!org) return 'unknown';
  if (org.name !== name) return 'mismatch';
  await tx.query('update orgs set deleted_at = coalesce(deleted_at, now()) where id = $1', [id]);
  await tx.query('update api_keys set revoked_at = now() where org_id = $1 and revoked_at is null', [id]);
  await tx.query('update schedules set deleted = true where org_id = $1', [id]);
  return 'marked';
}

/** The ids of all organizations, or of those to delete. In the scope `worker`. */
export async function readOrgs(tx: Tx, which: 'live' | 'deleted'): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(`select id from ${which}_orgs() as id`);
  return rows.map(({ id }) => id);
}

/** Ends some open jobs in their rows; runners abort their rollouts. Returns their workflows. */
export async function endJobs(tx: Tx, limit: number): Promise<string[]> {
  const jobs = await tx.query<{ id: string; workflowId: string }>(
    `update jobs set status = 'cancelled', completed_at = now() where id = any(array(
       select id from jobs
        where org_id = current_setting('app.org') and status in ('pending', 'running', 'paused') limit $1))
     returning id, workflow_id as "workflowId"`,
    [limit],
  );
  await tx.query(`update job_controls set control = 'stop' where job_id = any($1)`, [jobs.map(({ id }) => id)]);
  return jobs.map(({ workflowId }) => workflowId);
}

/** Some jobs, hidden ones included. */
export async function readAnyJobs(tx: Tx, most: number): Promise<JobRef[]> {
  return tx.query<JobRef & Record<string, unknown>>(
    `select id as "jobId", org_id as "orgId" from jobs where org_id = current_setting('app.org') limit $1`,
    [most],
  );
}

/** What an organization has besides jobs, in the order of its foreign keys. */
const tables = [
  'schedule_runs',
  'schedules',
  'dataset_rows',
  'datasets',
  'snapshots',
  'idempotency_keys',
  'request_windows',
  'call_slots',
  'limits',
  'provider_keys',
  'deployment_versions',
  'deployment_changes',
  'canary_values',
  'deployment_counters',
  'deployment_uses',
  'deployment_failures',
  'deployment_requests',
  'episode_answers',
  'deployment_feedback',
  'deployment_metrics',
  'deployment_judgements',
  'deployment_judges',
  'daily_spend',
  'provider_calls',
  'stored_bytes',
  'audit_log',
  'api_keys',
];
const rowsPerBatch = 5_000;

/** Deletes an organization without jobs. A job that came meanwhile refuses the last statement. */
export async function deleteOrg(db: Db, id: string): Promise<void> {
  for (const table of tables) await deleteBatches(db, id, { table, column: 'org_id', value: id, limit: rowsPerBatch });
  await db.org(id, (tx) => tx.query('delete from orgs where id = $1', [id]));
}

/** Deletes entries of the audit log that are older than `days`, in batches. */
export async function deleteOldAudit(db: Db, orgId: string, days: number): Promise<void> {
  const deleteSome = async (tx: Tx) => {
    await tx.query("select set_config('app.audit_days', $1, true)", [String(days)]);
    return tx.query(
      `delete from audit_log where id in (
         select id from audit_log
          where org_id = $1 and created_at < now() - make_interval(days => $2) order by created_at limit $3)
       returning 1`,
      [orgId, days, rowsPerBatch],
    );
  };
  while ((await db.org(orgId, deleteSome)).length > 0);
}

/** How long the messages of failed requests are kept. */
const dayMs = 86_400_000;
const failuresMs = 30 * dayMs;
const textsPerBatch = 1_000;

/** Deletes what is no longer kept of the requests of deployments, in batches. */
export async function deleteOldTraffic(db: Db, orgId: string, now = Date.now()): Promise<void> {
  for (const { id, keepDays } of await db.org(orgId, readDeploymentsWithTexts))
    await deleteTexts(db, orgId, id, new Date(now - keepDays * dayMs));
  const ofPeriod = (period: Period) => `width = '${period}' and start`;
  await deleteBefore(db, orgId, 'episode_answers', 'created_at', now - keptMs.hour);
  await deleteBefore(db, orgId, 'deployment_failures', 'at', now - failuresMs);
  await deleteBefore(db, orgId, 'provider_calls', 'start', now - dayMs);
  for (const table of ['deployment_counters', 'deployment_metrics'])
    for (const period of periods) await deleteBefore(db, orgId, table, ofPeriod(period), now - keptMs[period]);
}

async function deleteTexts(db: Db, orgId: string, deploymentId: string, before: Date): Promise<void> {
  const deleteSome = (tx: Tx) => deleteRequests(tx, deploymentId, before, textsPerBatch);
  while ((await db.org(orgId, deleteSome)) > 0);
}

async function deleteBefore(db: Db, orgId: string, table: string, column: string, beforeMs: number): Promise<void> {
  const statement = `delete from ${table} where ctid = any(array(
    select ctid from ${table} where org_id = $1 and ${column} < $2 limit $3)) returning 1`;
  const values = [orgId, new Date(beforeMs), rowsPerBatch];
  while ((await db.org(orgId, (tx) => tx.query(statement, values))).length > 0);
}

/** Days for which the spend of deleted jobs and of deployments' calls is kept. */
const spendDays = 7;

/**
 * Deletes what counts for no limit any more. Processes lock such rows in another order, so those
 * that are locked stay.
 */
async function deleteOldUses(tx: Tx, orgId: string): Promise<void> {
  const old = {
    call_slots: 'expires_at < now()',
    request_windows: "starts_at < now() - interval '1 hour'",
    deployment_uses: `minute < now() - interval '1 hour' and (day < ${today} or day_usd = 0)`,
  };
  for (const [table, isOld] of Object.entries(old))
    await tx.query(
      `delete from ${table} where ctid = any(array(
         select ctid from ${table} where org_id = $1 and ${isOld} for update skip locked))`,
      [orgId],
    );
}

/** Deletes expired rows of an organization, and returns the bytes that it stores. */
export async function tidyOrg(tx: Tx, orgId: string): Promise<number> {
  await tx.query(`delete from daily_spend where org_id = $1 and day < (now() at time zone 'utc')::date - $2::int`, [
    orgId,
    spendDays,
  ]);
  await deleteOldUses(tx, orgId);
  await deleteOldAnswers(tx, orgId, 10_000);
  return readStoredBytes(tx, orgId);
}
