import { liveLabel, parseRef } from '../../../core/deployments/ref.js';
import type { Tx } from '../../../platform/db/db.js';
import type { JudgeSettings } from '../contract/judge.js';
import type { DeploymentSettings } from '../contract/settings.js';

/** A deployment that a reference names; `snapshotId` null: not ready. */
export interface NamedDeployment extends Record<string, unknown> {
  id: string;
  name: string;
  version: number;
  snapshotId: string | null;
  liveAt: Date | null;
  settings: ServedSettings;
}

/** The deployment that answers a request. */
export interface ServedDeployment extends NamedDeployment {
  /** Of a name: the version that it moves to; null: none. */
  canary: ServedCanary | null;
}

/** A version that answers a part of the requests of its name, or is asked, too. */
export interface ServedCanary {
  id: string;
  version: number;
  snapshotId: string;
  percent: number;
  isShadow: boolean;
  stickyBy: string | null;
}

/** Settings of a request's way: without the scorer of the judge, which may be long. */
type ServedSettings = Omit<DeploymentSettings, 'judge'> & { judge?: Omit<JudgeSettings, 'scorer'> };

/** SQL of the settings of a deployment's name. */
export function settingsOf(deployment: string): string {
  return `(select v.settings from deployment_versions v where v.org_id = ${deployment}.org_id and v.name = ${deployment}.name)`;
}

const ofName = `(select deployment_id from deployment_names where org_id = current_setting('app.org') and name = $1)`;

const partId = `case
  when $3::int is not null then
    (select id from deployments where org_id = current_setting('app.org') and name = $1 and version = $3)
  when $2::text = '${liveLabel}' then ${ofName}
  else (select deployment_id from deployment_labels
         where org_id = current_setting('app.org') and name = $1 and label = $2) end`;

/** Name or id, label and version of a reference. */
export function refValues(ref: string): [string, string | null, number | null] {
  const { name, label, version } = parseRef(ref);
  return [name, label, version];
}

// As selects of their own: beside row-level security an index takes no other expression.
/** The id of a label or version of a name, of $1 to $3 as `refValues` gives them. */
export const idOfPart = `(select ${partId})`;
const idOfRef = `(select case when $2::text is null and $3::int is null then coalesce(${ofName}, $1) else ${partId} end)`;
const served = `d.id, d.name, d.version, case when d.live_at is not null then d.snapshot_id end as "snapshotId",
  d.live_at as "liveAt", ${settingsOf('d')} #- '{judge,scorer}' as settings`;

// By a label or a version callers get that one alone.
const canary = `(select json_build_object('id', c.id, 'version', c.version, 'snapshotId', c.snapshot_id, 'percent', r.percent,
      'isShadow', r.is_shadow, 'stickyBy', r.sticky_by)
    from deployment_canaries r join deployments c on c.id = r.deployment_id
   where r.org_id = d.org_id and r.name = d.name and r.ended_at is null and r.live_id = d.id and c.deleted_at is null
     and d.name = $1 and $3::int is null and ($2::text is null or $2 = '${liveLabel}')) as canary`;

/** The deployment of an id, a name, or its label or version; null: none. */
export async function resolveDeployment(tx: Tx, ref: string): Promise<ServedDeployment | null> {
  const [row] = await tx.query<ServedDeployment>(
    `select ${served}, ${canary} from deployments d where d.deleted_at is null and d.id = ${idOfRef}`,
    refValues(ref),
    'resolve_deployment',
  );
  return row ?? null;
}

/** The same with its labels. */
export async function resolveLabelled(tx: Tx, ref: string): Promise<(NamedDeployment & { labels: string[] }) | null> {
  const [row] = await tx.query<NamedDeployment & { labels: string[] }>(
    `select ${served}, ${labelsOf('d')} as labels from deployments d where d.deleted_at is null and d.id = ${idOfRef}`,
    refValues(ref),
    'resolve_labelled',
  );
  return row ?? null;
}

/** The labels of a deployment, the live one first. */
export function labelsOf(deployment: string): string {
  return `array(
    select '${liveLabel}' from deployment_names o where o.org_id = ${deployment}.org_id
       and o.name = ${deployment}.name and o.deployment_id = ${deployment}.id
    union all
    (select l.label from deployment_labels l where l.org_id = ${deployment}.org_id and l.name = ${deployment}.name
        and l.deployment_id = ${deployment}.id order by l.label))`;
}
