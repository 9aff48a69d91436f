import type { Interval } from '../../../core/math/mean-interval.js';
import type { Labels, Marks } from '../../../contracts/labels.js';
import type { GateVerdict } from '../../../core/deployments/gate.js';
import type { DeploymentSpec } from '../../../core/jobs/spec.js';
import type { DeploymentStatus } from '../contract/deployment.js';
import type { DeploymentSettings } from '../contract/settings.js';
import type { SnapshotContent } from '../contract/snapshot.js';
import { datasetNameOf } from '../../../datasets/store/datasets.js';
import type { ModelName } from '../../../core/retirements/lookup.js';
import type { Tx } from '../../../platform/db/db.js';
import { allModels } from './named-models.js';
import type { JobRef } from '../../../jobs/store/events.js';
import type { Stuck } from '../../../jobs/store/stuck.js';
import { JobPage } from '../../../jobs/store/list-pages.js';
import { webhookOf, type WebhookState } from '../../../jobs/store/webhooks.js';
import { toJsonb } from '../../../platform/db/json.js';
import type { JobFault } from '../../../core/jobs/fault.js';
import { parseRef } from '../../../core/deployments/ref.js';
import { keyOf, type NamedKey } from '../../../jobs/store/named-keys.js';
import { idOfPart, labelsOf, refValues, settingsOf } from './resolve.js';

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
  version: number;
  /** Of its name. */
  labels: string[];
  createdBy: NamedKey;
  reason: string | null;
  status: DeploymentStatus;
  live: boolean;
  snapshotId: string | null;
  /** Those that may answer its calls. */
  models: ModelName[];
  spec: DeploymentSpec;
  /** Of the gate's data set; null: none. */
  datasetName: string | null;
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
  provenance: Pick<SnapshotContent['provenance'], 'reward' | 'verdict' | 'heldout'> | null;
}

/** A job's status as a deployment status. */
const status = `case j.status when 'completed' then 'ready' when 'failed' then 'failed' when 'cancelled' then 'failed'
  else case when j.started_at is null then 'pending'
            when exists (select from deployment_canaries r where r.deployment_id = d.id and r.ended_at is null) then 'rolling_out'
            else 'building' end end`;

/** Error of a deployment whose workflow was cancelled, regardless of how its row was closed. */
const cancelled: JobFault = {
  code: 'deployment_cancelled',
  message:
    'The workflow was cancelled before the deployment was live. Create it again; its name serves what it served before.',
  retryable: true,
};
const error = `coalesce(j.error_details, case j.status when 'cancelled' then '${JSON.stringify(cancelled)}'::jsonb end)`;

const registered = `d.version, d.reason, ${labelsOf('d')} as labels, ${keyOf('j.key_id')} as "createdBy"`;
const columns = `d.id, d.org_id as "orgId", d.name, ${registered}, ${status} as status, n.deployment_id is not null as live, d.snapshot_id as "snapshotId",
  j.tags, j.metadata, j.notes, j.archived, j.spec, ${datasetNameOf('j')} as "datasetName", ${settingsOf('d')} as settings, d.gate, d.previous_id as "previousId", d.live_at as "liveAt", j.created_at as "createdAt", j.started_at as "startedAt",
  j.completed_at as "completedAt", ${allModels} as models, ${error} as "errorDetails", j.stuck, j.warnings, ${webhookOf('j.id')} as webhook, j.workflow_id as "workflowId",
   (select s.content->'provenance' from snapshots s where s.org_id = d.org_id and s.id = d.snapshot_id) as provenance`;
const tables = `deployments d join jobs j on j.id = d.id
  left join deployment_names n on n.org_id = d.org_id and n.name = d.name and n.deployment_id = d.id`;

/** Stores the part of a deployment beside its job. Returns its version. */
export async function insertDeployment(
  tx: Tx,
  { jobId, orgId }: JobRef,
  { name, reason = null }: { name: string; reason?: string | null },
): Promise<number> {
  const [row] = await tx.query<{ version: number }>(
    `with next as (
       insert into deployment_versions (org_id, name, last_version) values ($2, $3, 1)
       on conflict (org_id, name) do update set last_version = deployment_versions.last_version + 1
       returning last_version
     )
     insert into deployments (id, org_id, name, version, reason) select $1, $2, $3, last_version, $4 from next
     returning version`,
    [jobId, orgId, name, reason],
  );
  return row!.version;
}

/**
 * The deployment of an id, a label or a version, or that of a name: the one that serves it, else
 * the newest. null: unknown or deleted.
 */
export async function readDeployment(tx: Tx, ref: string): Promise<DeploymentRow | null> {
  const { label, version } = parseRef(ref);
  const isWhole = label === null && version === null;
  const [row] = await tx.query<DeploymentRow>(
    `select ${columns} from ${tables}
      where ${isWhole ? '(d.id = $1 or d.name = $1)' : `d.id = ${idOfPart}`} and d.deleted_at is null
      order by n.deployment_id is not null desc, j.created_at desc, j.id desc limit 1`,
    isWhole ? [ref] : refValues(ref),
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
  | 'version'
  | 'labels'
  | 'createdBy'
  | 'reason'
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
    /** The id of a key. */
    createdBy?: string | undefined;
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
            ${registered}, ${allModels} as models, j.stuck, j.tags, j.metadata, j.notes, j.archived, j.created_at as "createdAt" from ${tables}
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

/** The newest version numbers of a name, and how many there are. */
export async function readVersionNumbers(
  tx: Tx,
  name: string,
  limit: number,
): Promise<{ newest: number[]; count: number }> {
  const rows = await tx.query<{ version: number; count: number }>(
    `select version, count(*) over ()::int as count from deployments
      where org_id = current_setting('app.org') and name = $1 and deleted_at is null order by version desc limit $2`,
    [name, limit],
  );
  return { newest: rows.map(({ version }) => version), count: rows[0]?.count ?? 0 };
}

/** Stores the deployment's snapshot. */
export async function setSnapshot(tx: Tx, id: string, snapshotId: string): Promise<void> {
  await tx.query('update deployments set snapshot_id = $2 where id = $1', [id, snapshotId]);
}

/** Stores the result of a deployment's gate. */
export async function setGateResult(tx: Tx, id: string, result: GateResult): Promise<void> {
  await tx.query('update deployments set gate = $2 where id = $1', [id, toJsonb(result)]);
}

/** Whether a deployment was deleted. */
export async function isDeleted(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query('select 1 from deployments where id = $1 and deleted_at is not null', [id]);
  return rows.length > 0;
}
