import type { Tx } from '../../../platform/db/db.js';
import { toJsonb } from '../../../platform/db/json.js';
import type { DeploymentSettings } from '../contract/settings.js';

/** Settings to set; null: to remove. */
export type SettingChanges = { [Name in keyof DeploymentSettings]?: DeploymentSettings[Name] | null | undefined };

/** Changes settings of a deployment. */
export async function changeSettings(tx: Tx, id: string, changes: SettingChanges): Promise<void> {
  if (Object.values(changes).every((change) => change === undefined)) return;
  await tx.query(`update deployments set settings = ${changed('settings', 2)} where id = $1`, [
    id,
    ...valuesOf(changes),
  ]);
}

/** Gives a new deployment the settings of the one that serves its name, with changes. */
export async function inheritSettings(tx: Tx, id: string, changes: SettingChanges): Promise<void> {
  const live = `coalesce((
    select l.settings from deployment_names n join deployments l on l.id = n.deployment_id
     where n.org_id = d.org_id and n.name = d.name and l.deleted_at is null), '{}')`;
  await tx.query(`update deployments d set settings = ${changed(live, 2)} where id = $1`, [id, ...valuesOf(changes)]);
}

/** SQL of settings with changes, whose values begin at a parameter. */
const changed = (settings: string, at: number) => `(${settings} || $${at}::jsonb) - $${at + 1}::text[]`;

/** What is set, as JSON, and the names of what is removed. */
function valuesOf(changes: SettingChanges): [string, string[]] {
  const entries = Object.entries(changes);
  const removed = entries.flatMap(([name, change]) => (change === null ? [name] : []));
  return [toJsonb(Object.fromEntries(entries.filter(([, change]) => change !== null))), removed];
}
