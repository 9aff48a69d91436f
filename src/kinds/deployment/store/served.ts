/** What answers under a name or an id. */
import type { Tx } from '../../../platform/db/db.js';
import type { DeploymentSettings } from '../contract/settings.js';

/** The deployment that answers a request; `snapshotId` null: not ready. */
export interface ServedDeployment extends Record<string, unknown> {
  id: string;
  name: string;
  snapshotId: string | null;
  liveAt: Date | null;
  settings: DeploymentSettings;
}

/** The deployment with this id or serving this name; null: none. */
export async function resolveDeployment(tx: Tx, ref: string): Promise<ServedDeployment | null> {
  const [row] = await tx.query<ServedDeployment>(
    `select d.id, d.name, case when d.live_at is not null then d.snapshot_id end as "snapshotId", d.live_at as "liveAt", d.settings
       from deployments d
      where d.deleted_at is null and d.id = coalesce(
        (select deployment_id from deployment_names where org_id = current_setting('app.org') and name = $1), $1)`,
    [ref],
    'resolve_deployment',
  );
  return row ?? null;
}

/** A name that a deployment serves. */
export interface ServedName extends Record<string, unknown> {
  name: string;
  liveAt: Date;
}

/** The names that deployments serve, in order. */
export async function listServedNames(tx: Tx, limit: number): Promise<ServedName[]> {
  return tx.query<ServedName>(
    `select n.name, d.live_at as "liveAt" from deployment_names n join deployments d on d.id = n.deployment_id
      where n.org_id = current_setting('app.org') and d.deleted_at is null order by n.name limit $1`,
    [limit],
  );
}

/** The deployment and snapshot that serve a name; null: none. */
export async function readLive(tx: Tx, name: string): Promise<{ id: string; snapshotId: string } | null> {
  const [row] = await tx.query<{ id: string; snapshotId: string }>(
    `select d.id, d.snapshot_id as "snapshotId" from deployment_names n join deployments d on d.id = n.deployment_id
      where n.org_id = current_setting('app.org') and n.name = $1 and d.deleted_at is null`,
    [name],
  );
  return row ?? null;
}
