import type { AwaitedRewards } from '../../core/jobs/details.js';
import type { ShownJob } from '../../core/jobs/progress.js';
import type { Labels } from '../../contracts/labels.js';
import type { Tx } from '../../platform/db/db.js';
import { jsonFields } from '../../platform/db/json-fields.js';
import { JobGoneError } from './events.js';
import type { SessionProjection } from './projection.js';

/** A job for Temporal's lists, and the rewards that it waits for. */
export interface ShownRow {
  shown: ShownJob;
  rewards: AwaitedRewards | null;
}

const search = jsonFields<SessionProjection>('j.projection');

/** SQL of the finished rollouts of job `j` with the control row `c`. */
export const shownRollouts = 'greatest(j.rollouts_counted, c.rollouts_succeeded + c.rollouts_failed)';

/** SQL of the best reward of job `j`; of an evaluation its mean, so far or as kept at its end. */
export const shownReward = `coalesce(${search.text('bestReward')}::float8, case when j.kind = 'evaluation' then
  coalesce((j.totals->>'meanReward')::float8, c.reward_sum / nullif(c.rollouts_succeeded, 0)) end)`;

/** What Temporal shows of a session, an evaluation or a graph job. */
export async function readShown(tx: Tx, jobId: string): Promise<ShownRow> {
  const [row] = await tx.query<ShownJob & { awaited: number; since: string | null }>(
    `select j.name, j.tags, ${shownRollouts} as rollouts, ${shownReward} as "bestReward", w.awaited,
            to_char(w.since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since
       from jobs j join job_controls c on c.job_id = j.id cross join lateral (
         select count(*) as awaited, min(started_at) as since from rollouts
          where job_id = j.id and status = 'awaiting_reward' and deadline_at is not null and completed_at is null
       ) w where j.id = $1`,
    [jobId],
    'read_shown',
  );
  if (!row) throw gone(jobId);
  const { awaited, since, ...shown } = row;
  return { shown, rewards: since === null ? null : { rollouts: awaited, since } };
}

/** The labels of a job, which its memo has. */
export async function readLabels(tx: Tx, jobId: string): Promise<Pick<Labels, 'name' | 'tags' | 'metadata'>> {
  const [row] = await tx.query<Pick<Labels, 'name' | 'tags' | 'metadata'>>(
    `select coalesce(name, case when kind = 'deployment' then spec->>'name' end) as name, tags, metadata
       from jobs where id = $1`,
    [jobId],
  );
  if (!row) throw gone(jobId);
  return row;
}

function gone(jobId: string): JobGoneError {
  return new JobGoneError(`Job "${jobId}" is not in the database.`);
}
