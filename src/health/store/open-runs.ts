import type { JobKind } from '../../core/jobs/kinds.js';
import type { StoredSpec } from '../../core/jobs/spec.js';
import type { Status } from '../../core/jobs/status.js';
import type { Tx } from '../../platform/db/db.js';
import { keyOf, type NamedKey } from '../../jobs/store/named-keys.js';
import { specOfModels } from '../../jobs/store/open-jobs.js';
import type { Stuck } from '../../jobs/store/stuck.js';

/** A session, an evaluation or a graph job that runs or is paused. */
export interface OpenRun extends Record<string, unknown> {
  id: string;
  kind: Extract<JobKind, 'session' | 'evaluation' | 'graph'>;
  name: string | null;
  status: Status;
  createdBy: NamedKey;
  stuck: Stuck | null;
  /** Without its texts. */
  spec: StoredSpec;
  maxConcurrent: number;
  /** null: never lowered. */
  limit: number | null;
  reason: string | null;
  completed: number;
  /** null: no limit. */
  maxRollouts: number | null;
  /** Its rollouts are calls of others, which may not come. */
  isLive: boolean;
  startedAt: Date;
  lastAt: Date | null;
  inMinute: number;
  before: number;
}

/** Open jobs that are looked at, of which the longest without an outcome are answered. */
const mostRead = 1_000;

/** The longest without an outcome first. */
export async function listOpenRuns(tx: Tx, limit: number): Promise<OpenRun[]> {
  return tx.query<OpenRun>(
    `select j.id, j.kind, j.name, j.status, ${keyOf('j.key_id')} as "createdBy", j.stuck, ${specOfModels('j.spec')} as spec,
            (j.spec->>'maxConcurrent')::int as "maxConcurrent", c.concurrency as "limit", c.concurrency_reason as reason,
            c.rollouts_succeeded + c.rollouts_failed as completed,
            case j.kind when 'evaluation' then jsonb_array_length(j.spec->'seeds')
                        else (j.spec->'search'->>'maxRollouts')::int end as "maxRollouts",
            coalesce(j.spec->>'rollouts' = 'caller', false) as "isLive",
            coalesce(j.started_at, j.created_at) as "startedAt", c.last_outcome_at as "lastAt",
            c.outcomes_in_minute as "inMinute", c.outcomes_before as before
       from jobs j join job_controls c on c.job_id = j.id
      where j.id = any(array(
        select id from jobs where org_id = current_setting('app.org') and status in ('pending', 'running', 'paused')
           and kind in ('session', 'evaluation', 'graph') and not deleted limit ${mostRead}))
      order by coalesce(c.last_outcome_at, j.started_at, j.created_at), j.id limit $1`,
    [limit],
    'list_open_runs',
  );
}
