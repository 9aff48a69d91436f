import type { SessionState } from '../../core/algorithms/index.js';
import { sessionExtended } from '../../core/events/search.js';
import type { EventData } from '../../contracts/events/schema.js';
import type { OutcomeCounts } from '../../core/jobs/failures.js';
import { workflowId } from '../../core/jobs/kinds.js';
import type { SessionSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../db/db.js';
import { toJsonb } from '../db/json.js';
import { clearRefusals, raiseCostBudget } from './cost-budget.js';
import { appendEvents, lockJob, type JobRef } from './events.js';
import { awaitNextEnd } from './webhooks.js';

/** The end of a session's search, from which an extension goes on. */
export interface KeptSearch {
  state: SessionState;
  /** The number of the last step. */
  steps: number;
  counts: OutcomeCounts;
  /** Running time of all runs with a limit, in milliseconds. */
  usedMs: number;
}

/** Keeps the end of the current run. Call it under `lockJob`. */
export async function keepSearch(tx: Tx, job: JobRef, kept: KeptSearch): Promise<void> {
  await tx.query(
    `insert into search_states (job_id, org_id, run, kept) select id, org_id, run, $2 from jobs where id = $1
     on conflict (job_id) do update set run = excluded.run, kept = excluded.kept`,
    [job.jobId, toJsonb(kept)],
  );
}

/** The end of a run; null: it was not kept. */
export async function readKept(tx: Tx, jobId: string, run: number): Promise<KeptSearch | null> {
  const [row] = await tx.query<{ kept: KeptSearch }>('select kept from search_states where job_id = $1 and run = $2', [
    jobId,
    run,
  ]);
  return row?.kept ?? null;
}

/** Opens a closed session for another run. Call it under `lockJob`; returns its workflow. */
export async function reopenSession(
  tx: Tx,
  job: JobRef,
  spec: SessionSpec,
  limits: EventData<'session_extended'>,
): Promise<string> {
  const run = (await lockJob(tx, job)).run + 1;
  const id = workflowId('session', job.jobId, run);
  await tx.query(
    `update jobs set status = 'running', run = $2, workflow_id = $3, workflow_started = false, spec = $4,
            projection = projection - 'verdict', stopped_by = null, error_details = null, completed_at = null,
            agreement = null
      where id = $1`,
    [job.jobId, run, id, toJsonb(spec)],
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
  return id;
}
