import { sessionExtended } from '../../core/events/search.js';
import type { EventData } from '../../contracts/events/schema.js';
import { workflowId } from '../../core/jobs/kinds.js';
import type { SessionSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../../platform/db/db.js';
import { toJsonb } from '../../platform/db/json.js';
import { clearRefusals, raiseCostBudget } from './cost-budget.js';
import { appendEvents, lockJob, type JobRef } from './events.js';
import { awaitNextEnd } from './webhooks.js';

/** Opens a closed session for another run. Call it under `lockJob`; returns its workflow. */
export async function reopenSession(
  tx: Tx,
  job: JobRef,
  spec: SessionSpec,
  limits: EventData<'session_extended'>,
): Promise<string> {
  const run = (await lockJob(tx, job)).run + 1;
  const [started] = await tx.query<{ id: string }>(
    `update jobs set status = 'running', run = $2, workflow_id = $3 || workflow_suffix, workflow_started = false, spec = $4,
            projection = projection - 'verdict', stopped_by = null, error_details = null, completed_at = null,
            agreement = null, final_cost_usd = null, final_rollouts = null, prompt_tokens = null
      where id = $1 returning workflow_id as id`,
    [job.jobId, run, workflowId('session', job.jobId, run), toJsonb(spec)],
  );
  await Promise.all([
    tx.query(`update job_controls set control = 'run', connect_failures = 0 where job_id = $1`, [job.jobId]),
    tx.query(
      `with again as (
         update rollouts set status = 'queued', completed_at = null, deadline_at = null
          where job_id = $1 and status = 'cancelled' and source = 'service' and ordinal is not null returning id
       )
       delete from rewards where job_id = $1 and not counted and rollout_id in (select id from again)`,
      [job.jobId],
    ),
    // Their batches were not complete: they get one frame with the rest.
    tx.query(
      `with deleted as (
         delete from sensor_frames f using jobs j
          where j.id = $1 and f.job_id = j.id and f.ordinal >= j.rollouts_counted returning 1
       )
       update job_controls set sensor_frames = sensor_frames - (select count(*) from deleted) where job_id = $1`,
      [job.jobId],
    ),
    awaitNextEnd(tx, job.jobId),
    clearRefusals(tx, job),
    raiseCostBudget(tx, job, spec.budget.maxCostUsd),
    appendEvents(tx, job, [sessionExtended(run, limits)]),
  ]);
  return started!.id;
}
