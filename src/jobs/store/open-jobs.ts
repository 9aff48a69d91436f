import type { JobKind } from '../../core/jobs/kinds.js';
import type { StoredSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../../platform/db/db.js';

/** Open jobs of a kind and status. */
export interface OpenJobs {
  kind: string;
  status: string;
  count: number;
  /** Seconds since the last event of the job that is the longest without one; null: none is due. */
  progressAge: number | null;
}

/** Counts the open jobs of all organizations, by kind and status, in a `worker` transaction. */
export function countOpenJobs(tx: Tx): Promise<OpenJobs[]> {
  return tx.query<OpenJobs & Record<string, unknown>>(
    'select kind, status, count, progress_age as "progressAge" from count_open_jobs()',
  );
}

/** An open job that a request made. */
export interface OpenJob extends Record<string, unknown> {
  id: string;
  kind: JobKind;
  name: string | null;
  /** Without its texts. */
  spec: StoredSpec;
}

/** SQL of a spec without its texts and seeds: the models stay. */
export const specOfModels = (spec: string) =>
  `(${spec} - '{initialPrompt,candidate,initialGraph,search,seeds,gate}'::text[]) #- '{source,messages}' #- '{session,search}'
     #- '{session,initialPrompt}' #- '{improve,session,search}' #- '{improve,session,initialPrompt}' #- '{parts,rows,gate}'
     #- '{parts,traffic,gate}'`;

/** The open jobs of the organization. */
export async function listOpenSpecs(tx: Tx, limit: number): Promise<OpenJob[]> {
  return tx.query<OpenJob>(
    `select id, kind, case when kind = 'deployment' then spec->>'name' else name end as name,
            ${specOfModels('spec')} as spec
       from jobs
      where org_id = current_setting('app.org') and status in ('pending', 'running', 'paused') and key_id is not null
        and not deleted limit $1`,
    [limit],
  );
}
