import type { JobKind } from '../../core/jobs/kinds.js';
import type { StoredSpec } from '../../core/jobs/spec.js';
import type { Status } from '../../core/jobs/status.js';
import type { Tx } from '../../platform/db/db.js';
import { lastCommandOf, type LastCommand } from '../../jobs/store/commands.js';
import { keyOf, type NamedKey } from '../../jobs/store/named-keys.js';
import { readConcurrency } from '../../jobs/store/concurrency.js';
import { specOfModels } from '../../jobs/store/open-jobs.js';
import type { Stuck } from '../../jobs/store/stuck.js';

/** A session, an evaluation or a graph job that runs or is paused. */
export interface OpenRun extends Record<string, unknown> {
  id: string;
  kind: Extract<JobKind, 'session' | 'evaluation' | 'graph'>;
  name: string | null;
  tags: string[];
  status: Status;
  lastCommand: LastCommand | null;
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
  /** Its start, its last resumption or its last extension. */
  runsSince: Date;
  /** Its container and models are checked. */
  isPrepared: boolean;
  /** A worker holds its lease. */
  isDriven: boolean;
  lastAt: Date | null;
  inMinute: number;
  before: number;
}

/** Open jobs that are looked at, of which the longest without an outcome are answered. */
const mostRead = 1_000;

/** The longest without an outcome first. */
export async function listOpenRuns(tx: Tx, limit: number): Promise<OpenRun[]> {
  return tx.query<OpenRun>(
    `select j.id, j.kind, j.name, j.tags, j.status, ${lastCommandOf('c')} as "lastCommand", ${keyOf('j.key_id')} as "createdBy", j.stuck, ${specOfModels('j.spec')} as spec,
            (j.spec->>'maxConcurrent')::int as "maxConcurrent", c.concurrency as "limit", c.concurrency_reason as reason,
            c.rollouts_succeeded + c.rollouts_failed as completed,
            case j.kind when 'evaluation' then jsonb_array_length(j.spec->'seeds')
                        else (j.spec->'search'->>'maxRollouts')::int end as "maxRollouts",
            coalesce(j.spec->>'rollouts' = 'caller', false) as "isLive",
            coalesce(j.started_at, j.created_at) as "startedAt", j.started_at is not null as "isPrepared",
            greatest(coalesce(j.started_at, j.created_at),
                     (select max(ts) from events e where e.job_id = j.id
                       and e.key in ('resumed:' || c.pauses, 'extended:' || j.run))) as "runsSince",
            coalesce(c.lease_expires_at > now(), false) as "isDriven", c.last_outcome_at as "lastAt",
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

/** Rollouts in flight by job; of jobs that stand still, which are few. */
export async function countInFlight(tx: Tx, jobIds: readonly string[]): Promise<Map<string, number>> {
  if (jobIds.length === 0) return new Map();
  const counts = await Promise.all(jobIds.map((jobId) => readConcurrency(tx, jobId)));
  return new Map(counts.map(({ inFlight }, index) => [jobIds[index]!, inFlight]));
}
