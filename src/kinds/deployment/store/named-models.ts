/** The models that deployments name. */
import type { ModelName } from '../../../core/retirements/lookup.js';
import type { Tx } from '../../../platform/db/db.js';
import { settingsOf } from './resolve.js';

/** SQL of provider and model of the policies in a JSON array. */
const namesIn = (policies: string) => `(
  select coalesce(jsonb_agg(jsonb_build_object('provider', p->'provider', 'model', p->'model')), '[]')
    from jsonb_array_elements(${policies}) p where p->>'model' is not null)`;

/** SQL of the models of deployment `d` with job `j`: of its snapshot, else of its request. */
const servedModels = namesIn(`coalesce(
  (select coalesce(s.policies::jsonb, jsonb_build_array(s.policy::jsonb)) from snapshots s
    where s.org_id = d.org_id and s.id = d.snapshot_id),
  jsonb_build_array(j.spec->'source'->'policy'))`);

/** SQL of the models of the fallbacks of deployment `d`. */
const fallbackModels = namesIn(`coalesce(${settingsOf('d')}->'fallbacks'->'models', '[]')`);

/** SQL of the models of the judge of deployment `d`, those in the parts of its scorer included. */
const judgeModels = namesIn(`coalesce(
  jsonb_path_query_array(${settingsOf('d')}, '$.judge.scorer')
    || jsonb_path_query_array(${settingsOf('d')}, '$.judge.scorer.parts[*].scorer'), '[]')`);

/** SQL of all models of deployment `d` with job `j`; those that it serves come first. */
export const allModels = `${servedModels} || ${fallbackModels} || ${judgeModels}`;

/** A deployment with a snapshot. */
export interface NamingDeployment extends Record<string, unknown> {
  id: string;
  name: string;
  version: number;
  /** What a rollback would serve, if it is not deleted; null: nothing. */
  previousId: string | null;
  live: boolean;
  models: ModelName[];
  fallbacks: ModelName[];
  judges: ModelName[];
}

const columns = `d.id, d.name, d.version, d.previous_id as "previousId", ${servedModels} as models, ${fallbackModels} as fallbacks, ${judgeModels} as judges`;

/** The deployments that serve names, by name. */
export async function listLiveModels(tx: Tx, limit: number): Promise<NamingDeployment[]> {
  return tx.query<NamingDeployment>(
    `select ${columns}, true as live
       from deployment_names n join deployments d on d.id = n.deployment_id join jobs j on j.id = d.id
      where n.org_id = current_setting('app.org') and d.deleted_at is null order by n.name limit $1`,
    [limit],
  );
}

/** The newest deployments that are ready and do not serve their names. */
export async function listOtherModels(tx: Tx, limit: number): Promise<NamingDeployment[]> {
  return tx.query<NamingDeployment>(
    `select ${columns}, false as live from deployments d join jobs j on j.id = d.id
      where d.id = any(array(
        select j.id from jobs j
         where j.org_id = current_setting('app.org') and j.kind = 'deployment' and j.status = 'completed'
           and (select d.deleted_at is null from deployments d where d.id = j.id)
           and not exists (select from deployment_names n where n.org_id = j.org_id and n.deployment_id = j.id
                              and n.name = (select d.name from deployments d where d.id = j.id))
         order by j.created_at desc, j.id desc limit $1))
      order by j.created_at desc, j.id desc`,
    [limit],
  );
}
