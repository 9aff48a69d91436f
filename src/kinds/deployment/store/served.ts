/** The names that deployments serve. */
import type { Tx } from '../../../platform/db/db.js';

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
