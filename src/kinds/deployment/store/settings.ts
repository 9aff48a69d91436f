import type { Tx } from '../../../platform/db/db.js';
import { toJsonb } from '../../../platform/db/json.js';
import { addJudge } from './judges.js';
import { forgetAnswers } from './judgements.js';
import type { JudgeSettings } from '../contract/judge.js';
import { defaultSettings, type DeploymentSettings } from '../contract/settings.js';

/** Fields of settings to set; null: a setting to remove. */
export type SettingChanges = {
  [Name in keyof DeploymentSettings]?: Changes<DeploymentSettings[Name]> | null | undefined;
};
type Changes<Setting> = { [Field in keyof NonNullable<Setting>]?: NonNullable<Setting>[Field] | undefined };

/** A judge as a change leaves it. One without a scorer must not be committed. */
export type ChangedJudge = Partial<JudgeSettings> | null;

/** Changes settings of a name: fields that are not given stay, or have their default. */
export async function changeSettings(tx: Tx, name: string, changes: SettingChanges): Promise<ChangedJudge> {
  const entries = Object.entries(changes).filter(([, change]) => change !== undefined);
  if (entries.length === 0) return null;
  const removed = entries.flatMap(([setting, change]) => (change === null ? [setting] : []));
  const set = Object.fromEntries(entries.filter(([, change]) => change !== null));
  const [changed] = await tx.query<{ judge: ChangedJudge }>(
    `update deployment_versions v
        set settings = (settings || coalesce((
              select jsonb_object_agg(key, coalesce(v.settings->key, $3::jsonb->key) || value) from jsonb_each($2::jsonb)), '{}'))
            - $4::text[]
      where org_id = current_setting('app.org') and name = $1
     returning settings->'judge' as judge`,
    [name, toJsonb(set), toJsonb(defaultSettings), removed],
  );
  if (changes.judge === null) await forgetAnswers(tx, name);
  else if (changes.judge) await addJudge(tx, name);
  return changed?.judge ?? null;
}
