import type { Tx } from '../../../platform/db/db.js';
import { toJsonb } from '../../../platform/db/json.js';
import type { DeploymentSettings } from '../contract/settings.js';

/** Settings to set; null: to remove. */
export type SettingChanges = { [Name in keyof DeploymentSettings]?: DeploymentSettings[Name] | null | undefined };

/** Changes settings of a deployment. */
export async function changeSettings(tx: Tx, id: string, changes: SettingChanges): Promise<void> {
  await tx.query('update deployments set settings = jsonb_strip_nulls(settings || $2::jsonb) where id = $1', [
    id,
    toJsonb(changes),
  ]);
}
