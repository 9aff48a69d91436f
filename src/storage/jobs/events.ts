import type { NewEvent } from '../../core/events/event.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import type { Status } from '../../core/jobs/status.js';
import type { Tx } from '../db/db.js';
import { jsonFields } from '../db/json-fields.js';
import { toJsonb } from '../db/json.js';
import type { EvaluationProjection } from './jobs.js';

/** The job whose rows a function reads or writes. */
export interface JobRef {
  orgId: string;
  jobId: string;
}

/** The job is not in the database, which was replaced or restored; not retryable. */
export class JobGoneError extends Error {
  override readonly name = 'JobGoneError';
}

const total = jsonFields<EvaluationProjection>('j.projection').text('total');

/** Locks the job's control row. Take it before writing events, outcomes or a decision. */
export async function lockJob(tx: Tx, job: JobRef): Promise<ControlRow> {
  const [row] = await tx.query<ControlRow>(
    // Both rows: a transaction that waited for the lock must see the current status.
    `select c.control, c.lease_token, c.rollouts_succeeded, c.rollouts_failed, c.connect_failures, c.step, j.status, j.kind,
            j.run, j.workflow_id,
            ${total}::int as total
       from job_controls c join jobs j on j.id = c.job_id where c.job_id = $1 for no key update`,
    [job.jobId],
  );
  if (!row) throw new JobGoneError(`Job "${job.jobId}" is not in the database.`);
  return row;
}

/** A job's control row, under its lock. */
export interface ControlRow extends Record<string, unknown> {
  control: 'run' | 'pause' | 'stop';
  lease_token: number;
  rollouts_succeeded: number;
  rollouts_failed: number;
  connect_failures: number;
  status: Status;
  kind: JobKind;
  /** Counts the job's runs: each extension begins another, with its own workflow. */
  run: number;
  workflow_id: string;
  /** The last recorded decision of the job's search; null: none yet. */
  step: number | null;
  /** The number of seeds of an evaluation; null: another kind of job. */
  total: number | null;
}

/**
 * Appends events in the transaction that writes what they report; known keys are skipped. Call it
 * under `lockJob`, so that seq has no gaps.
 */
export async function appendEvents(tx: Tx, job: JobRef, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(
    `with fresh as (
       select e, row_number() over (order by n) as r
         from jsonb_array_elements($3::jsonb) with ordinality as t(e, n)
        -- One look-up per key: for a join Postgres may read all events of the job.
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
