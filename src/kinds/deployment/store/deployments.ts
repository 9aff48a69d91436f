import type { Interval } from '../../../core/math/mean-interval.js';
import type { Labels, Marks } from '../../../contracts/labels.js';
import type { GateVerdict } from '../../../core/deployments/gate.js';
import type { DeploymentSpec } from '../../../core/jobs/spec.js';
import type { DeploymentStatus } from '../contract/deployment.js';
import type { DeploymentSettings } from '../contract/settings.js';
import type { SnapshotContent } from '../contract/snapshot.js';
import { recordServiceChange } from '../../../access/store/audit-log.js';
import { inheritSettings, type SettingChanges } from './settings.js';
import type { ModelName } from '../../../core/retirements/lookup.js';
import type { Tx } from '../../../platform/db/db.js';
import { fallbackModels, servedModels } from './named-models.js';
import type { JobRef } from '../../../jobs/store/events.js';
import type { Stuck } from '../../../jobs/store/stuck.js';
import { JobPage } from '../../../jobs/store/list-pages.js';
import { webhookOf, type WebhookState } from '../../../jobs/store/webhooks.js';
import { toJsonb } from '../../../platform/db/json.js';
import type { JobFault } from '../../../core/jobs/fault.js';

/** The gate's comparison, seed by seed, and its result; ids are of evaluations. */
export interface GateResult {
  candidate: { jobId: string; reward: number | null; interval: Interval | null };
  incumbent: { jobId: string; deploymentId: string | null; reward: number | null; interval: Interval | null } | null;
  comparison: GateVerdict['comparison'];
  /** Seeds on which a side has two rewards. */
  flippedSeeds: number[];
  passed: boolean;
}

/** A deployment as HTTP shows it. */
export interface DeploymentRow extends Omit<Marks, 'name'>, Record<string, unknown> {
  id: string;
  orgId: string;
  name: string;
  status: DeploymentStatus;
  live: boolean;
  snapshotId: string | null;
  /** Those that may answer its calls. */
  models: ModelName[];
  spec: DeploymentSpec;
  settings: DeploymentSettings;
  gate: GateResult | null;
  previousId: string | null;
  liveAt: Date | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  errorDetails: JobFault | null;
  stuck: Stuck | null;
  warnings: string[];
  webhook: WebhookState | null;
  workflowId: string;
  /** Of the snapshot; null until it is published. */
  provenance: Pick<SnapshotContent['provenance'], 'reward' | 'verdict'> | null;
}

/** A job's status as a deployment status. */
const status = `case j.status when 'completed' then 'ready' when 'failed' then 'failed' when 'cancelled' then 'failed'
  else case when j.started_at is null then 'pending' else 'building' end end`;

/** Error of a deployment whose workflow was cancelled, regardless of how its row was closed. */
const cancelled: JobFault = {
  code: 'deployment_cancelled',
  message:
    'The workflow was cancelled before the deployment was live. Create it again; its name serves what it served before.',
  retryable: true,
};
const error = `coalesce(j.error_details, case j.status when 'cancelled' then '${JSON.stringify(cancelled)}'::jsonb end)`;

const columns = `d.id, d.org_id as "orgId", d.name, ${status} as status, n.deployment_id is not null as live, d.snapshot_id as "snapshotId",
  j.tags, j.metadata, j.notes, j.archived, j.spec, d.settings, d.gate, d.previous_id as "previousId", d.live_at as "liveAt", j.created_at as "createdAt", j.started_at as "startedAt",
  j.completed_at as "completedAt", ${servedModels} || ${fallbackModels} as models, ${error} as "errorDetails", j.stuck, j.warnings, ${webhookOf('j.id')} as webhook, j.workflow_id as "workflowId",
   (select s.content->'provenance' from snapshots s where s.org_id = d.org_id and s.id = d.snapshot_id) as provenance`;
const tables = `deployments d join jobs j on j.id = d.id
  left join deployment_names n on n.org_id = d.org_id and n.name = d.name and n.deployment_id = d.id`;

/**
 * Stores the part of a deployment beside its job. Settings that are not given are those of the
 * deployment that serves the name.
 */
export async function insertDeployment(
  tx: Tx,
  job: JobRef,
  { name, settings = {} }: { name: string; settings?: SettingChanges },
): Promise<void> {
  await tx.query('insert into deployments (id, org_id, name) values ($1, $2, $3)', [job.jobId, job.orgId, name]);
  await inheritSettings(tx, job.jobId, settings);
}

/**
 * The deployment with this id, serving this name, or the newest of this name; null: unknown or
 * deleted.
 */
export async function readDeployment(tx: Tx, ref: string): Promise<DeploymentRow | null> {
  const [row] = await tx.query<DeploymentRow>(
    `select ${columns} from ${tables}
      where (d.id = $1 or d.name = $1) and d.deleted_at is null
      order by n.deployment_id is not null desc, j.created_at desc, j.id desc limit 1`,
    [ref],
  );
  return row ?? null;
}

/** The newest deployment of a name that is still being built; null: none. */
export async function readUpcoming(tx: Tx, name: string): Promise<DeploymentRow | null> {
  const [row] = await tx.query<DeploymentRow>(
    `select ${columns} from ${tables}
      where d.org_id = current_setting('app.org') and d.name = $1 and d.deleted_at is null
        and j.status in ('pending', 'running', 'paused') order by j.created_at desc, j.id desc limit 1`,
    [name],
  );
  return row ?? null;
}

/** A deployment in a list. */
export type DeploymentHead = Pick<
  DeploymentRow,
  | 'id'
  | 'name'
  | 'status'
  | 'live'
  | 'snapshotId'
  | 'models'
  | 'stuck'
  | 'tags'
  | 'metadata'
  | 'notes'
  | 'archived'
  | 'createdAt'
>;

/** The organization's deployments, newest first. */
export async function listDeployments(
  tx: Tx,
  page: {
    name?: string | undefined;
    status?: DeploymentStatus | undefined;
    /** All of these. */
    tags?: string[];
    /** All of these values. */
    metadata?: Labels['metadata'] | undefined;
    /** true: archived ones, too. */
    archived?: boolean;
    limit: number;
    offset: number;
  },
): Promise<DeploymentHead[]> {
  const ids = new JobPage({ ...page, kind: 'deployment', name: undefined });
  const isNamed = page.name !== undefined;
  if (isNamed) ids.add(`d.org_id = current_setting('app.org') and d.name = ${ids.value(page.name)}`);
  // One look-up per row: with stale statistics Postgres reads all deployments for a join.
  ids.add(isNamed ? 'd.deleted_at is null' : '(select d.deleted_at is null from deployments d where d.id = j.id)');
  if (page.status !== undefined) ids.add(`${status} = ${ids.value(page.status)}`);
  return tx.query<DeploymentHead & Record<string, unknown>>(
    `select d.id, d.name, ${status} as status, n.deployment_id is not null as live, d.snapshot_id as "snapshotId",
            ${servedModels} || ${fallbackModels} as models, j.stuck, j.tags, j.metadata, j.notes, j.archived,
            j.created_at as "createdAt" from ${tables}
      where d.id = any(array(${ids.ids({ ...page, join: isNamed ? 'join deployments d on d.id = j.id' : '' })}))
      order by j.created_at desc, j.id desc`,
    ids.values,
  );
}

/** The deployments of a name that are not deleted. */
export async function readVersions(tx: Tx, name: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select id from deployments where org_id = current_setting('app.org') and name = $1 and deleted_at is null`,
    [name],
  );
  return rows.map(({ id }) => id);
}

/** Stores the deployment's snapshot. */
export async function setSnapshot(tx: Tx, id: string, snapshotId: string): Promise<void> {
  await tx.query('update deployments set snapshot_id = $2 where id = $1', [id, snapshotId]);
}

/** Stores the result of a deployment's gate. */
export async function setGateResult(tx: Tx, id: string, result: GateResult): Promise<void> {
  await tx.query('update deployments set gate = $2 where id = $1', [id, toJsonb(result)]);
}

/**
 * Promotes a deployment to its name; the caller holds its job's lock. With `judgedAgainst` (a
 * deployment's id; null: none) only if that still serves the name.
 */
export async function promote(
  tx: Tx,
  { orgId, jobId }: JobRef,
  judgedAgainst?: string | null,
): Promise<'promoted' | 'deleted' | 'moved'> {
  // Insert the row first, so that there is a row to lock.
  await tx.query(
    `insert into deployment_names (org_id, name, deployment_id) select org_id, name, id from deployments where id = $1
     on conflict do nothing`,
    [jobId],
  );
  const [current] = await tx.query<{ id: string }>(
    `select deployment_id as id from deployment_names
      where org_id = $1 and name = (select name from deployments where id = $2) for update`,
    [orgId, jobId],
  );
  const before = current!.id === jobId ? null : current!.id;
  const [served] = await tx.query('select id from deployments where id = $1 and deleted_at is null', [before]);
  const live = served ? before : null;
  if (judgedAgainst !== undefined && live !== judgedAgainst) {
    // Delete the row that was inserted only for the lock.
    if (!before)
      await tx.query('delete from deployment_names where org_id = $1 and deployment_id = $2', [orgId, jobId]);
    return 'moved';
  }
  const promoted = await tx.query(
    'update deployments set live_at = now(), previous_id = $2 where id = $1 and deleted_at is null returning id',
    [jobId, before],
  );
  if (promoted.length === 0) return 'deleted';
  await tx.query(
    'update deployment_names set deployment_id = $3 where org_id = $1 and name = (select name from deployments where id = $2)',
    [orgId, jobId, jobId],
  );
  await recordServiceChange(tx, { orgId, action: 'promote', params: { deployment_id: jobId } });
  return 'promoted';
}

/** The deployment that serves the name after a rollback. */
export interface ServingDeployment extends Record<string, unknown> {
  id: string;
  snapshotId: string;
}

/**
 * Rolls a name back to the previous deployment that is not deleted. Returns it, or why the rollback
 * was refused: another deployment serves the name, or no previous deployment exists.
 */
export async function rollBack(
  tx: Tx,
  { id, name }: { id: string; name: string },
): Promise<ServingDeployment | 'not_live' | 'none_before'> {
  const [current] = await tx.query<{ id: string }>(
    `select deployment_id as id from deployment_names where org_id = current_setting('app.org') and name = $1 for update`,
    [name],
  );
  if (current?.id !== id) return 'not_live';
  const [before] = await tx.query<ServingDeployment>(
    `with recursive back as (
       select previous_id as id, 1 as depth from deployments where id = $1
       union all
       select d.previous_id, depth + 1 from back join deployments d on d.id = back.id where d.deleted_at is not null
     )
     select d.id, d.snapshot_id as "snapshotId" from back join deployments d on d.id = back.id
      where d.deleted_at is null order by depth limit 1`,
    [id],
  );
  if (!before) return 'none_before';
  await tx.query(
    `update deployment_names set deployment_id = $2 where org_id = current_setting('app.org') and name = $1`,
    [name, before.id],
  );
  return before;
}

/** Deletes a deployment; its snapshot stays. Returns whether this call did it. */
export async function deleteDeployment(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query(
    'update deployments set deleted_at = now() where id = $1 and deleted_at is null returning id',
    [id],
  );
  return rows.length > 0;
}

/** Whether a deployment was deleted. */
export async function isDeleted(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query('select 1 from deployments where id = $1 and deleted_at is not null', [id]);
  return rows.length > 0;
}
