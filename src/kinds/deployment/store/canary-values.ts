/** Values of the metric that decides a canary. */
import type { MetricValue } from '../../../core/deployments/canary/rewards.js';
import type { Tx } from '../../../platform/db/db.js';

/** Reported values that a canary's state does not include yet, in the order in which they came. */
export async function takeValues(tx: Tx, deploymentId: string): Promise<MetricValue[]> {
  return tx.query<MetricValue & Record<string, unknown>>(
    `with taken as (
       update canary_values set is_counted = true
        where deployment_id = $1 and not is_counted returning at, unit, is_canary, value)
     select is_canary as "isCanary", value from taken order by at, unit`,
    [deploymentId],
    'take_canary_values',
  );
}

/** A value of a metric that an answer, or an episode, was reported. */
export interface ReportedValue {
  name: string;
  /** The deployment that answered, when, and for whom. */
  deploymentId: string;
  at: Date;
  unit: string;
  values: readonly (readonly [metric: string, value: number])[];
}

/** Keeps the first value of the deciding metric of each unit, while a canary is open. */
export async function keepForCanary(tx: Tx, orgId: string, reported: ReportedValue): Promise<void> {
  const { name, deploymentId, at, unit, values } = reported;
  await tx.query(
    `insert into canary_values (deployment_id, unit, org_id, is_canary, value)
     select r.deployment_id, $4, $1, r.deployment_id = $3, v.value
       from deployment_canaries r join jsonb_to_recordset($6::jsonb) as v(metric text, value float8) on v.metric = r.metric
      where r.org_id = $1 and r.name = $2 and r.ended_at is null and $3 in (r.deployment_id, r.live_id) and $5 >= r.started_at
     on conflict do nothing`,
    [orgId, name, deploymentId, unit, at, JSON.stringify(values.map(([metric, value]) => ({ metric, value })))],
    'keep_for_canary',
  );
}
