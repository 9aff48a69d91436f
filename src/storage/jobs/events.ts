import type { DeploymentSpec, JobSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../db/db.js';
import { jsonFields } from '../db/json-fields.js';
import { toJsonb } from '../db/json.js';
import type { EvaluationProjection } from './jobs.js';

/** Whose rows a verb touches. */
export interface JobRef {
  orgId: string;
  jobId: string;
}

/** An event to publish. `key` is unique per job and names what happened (`generation:3`), so a retry adds nothing. */
export interface NewEvent {
  key: string;
  type: string;
  message: string;
  data: Record<string, unknown>;
}

/** The database knows nothing of the job: it was replaced or restored. No retry helps. */
export class JobGoneError extends Error {
  override readonly name = 'JobGoneError';
}

const total = jsonFields<EvaluationProjection>('j.projection').text('total');

/** Locks the job's control row: whoever writes events, outcomes or a decision takes it first, and so one waits for the other. */
export async function lockJob(tx: Tx, job: JobRef): Promise<ControlRow> {
  const [row] = await tx.query<ControlRow>(
    // Of both rows: whoever waited here must see the status as it is now, not as it was when the waiting began.
    `select c.control, c.lease_token, c.rollouts_succeeded, c.rollouts_failed, c.connect_failures, c.step, j.status, j.kind,
            ${total}::int as total
       from job_controls c join jobs j on j.id = c.job_id where c.job_id = $1 for no key update`,
    [job.jobId],
  );
  if (!row) throw new JobGoneError(`The job ${job.jobId} is not in the database.`);
  return row;
}

/** What a job's control row says, under its lock. */
export interface ControlRow extends Record<string, unknown> {
  control: 'run' | 'pause' | 'stop';
  lease_token: number;
  rollouts_succeeded: number;
  rollouts_failed: number;
  connect_failures: number;
  status: 'pending' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';
  kind: (JobSpec | DeploymentSpec)['kind'];
  /** The latest decision of the job's search that is recorded; null: none yet. */
  step: number | null;
  /** How many seeds an evaluation has; null: it is none. */
  total: number | null;
}

/**
 * Publishes events in the transaction that writes what they report. Call it under `lockJob`: seq then has no gaps, and
 * an event whose key is there already is left out.
 */
export async function appendEvents(tx: Tx, job: JobRef, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(
    `with fresh as (
       select e, row_number() over (order by n) as r
         from jsonb_array_elements($3::jsonb) with ordinality as t(e, n)
        -- A look-up for each key: as a join Postgres may read all of the job's events instead.
        where (select x.seq from events x where x.job_id = $1 and x.key = e->>'key') is null
     ), bumped as (
       update job_controls set event_seq = event_seq + (select count(*) from fresh) where job_id = $1 returning event_seq
     ), inserted as (
       insert into events (job_id, seq, org_id, key, type, message, data)
       select $1, bumped.event_seq - (select count(*) from fresh) + r, $2, e->>'key', e->>'type', e->>'message', e->'data'
         from fresh, bumped
     )
     select pg_notify('ratchet_events', $1) where exists (select 1 from fresh)`,
    [job.jobId, job.orgId, toJsonb(events)],
  );
}
