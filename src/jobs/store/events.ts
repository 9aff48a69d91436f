import type { EmptyCounts } from '../../core/answers/empty-answers.js';
import type { NewEvent } from '../../core/events/event.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import type { Status } from '../../core/jobs/status.js';
import type { Tx } from '../../platform/db/db.js';
import { jsonFields } from '../../platform/db/json-fields.js';
import { toJsonb } from '../../platform/db/json.js';
import type { EvaluationProjection } from './projection.js';

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
    `select c.control, c.pauses, c.lease_token, c.rollouts_succeeded, c.rollouts_failed, c.connect_failures,
            j.status, j.kind, j.run, j.workflow_id, j.dataset_id is not null as has_rows,
            ${total}::int as total
       from job_controls c join jobs j on j.id = c.job_id where c.job_id = $1 for no key update`,
    [job.jobId],
    'lock_job',
  );
  if (!row) throw new JobGoneError(`Job "${job.jobId}" is not in the database.`);
  return row;
}

/** Whether a job's work may go on, without its lock. */
export async function readControl(tx: Tx, jobId: string): Promise<ControlRow['control']> {
  const [row] = await tx.query<{ control: ControlRow['control'] }>(
    'select control from job_controls where job_id = $1',
    [jobId],
    'read_control',
  );
  if (!row) throw new JobGoneError(`Job "${jobId}" is not in the database.`);
  return row.control;
}

/** The seq of a job's last event; everything that goes on record adds one. */
export async function readLastSeq(tx: Tx, jobId: string): Promise<number> {
  const [row] = await tx.query<{ event_seq: number }>(
    'select event_seq from job_controls where job_id = $1',
    [jobId],
    'read_last_seq',
  );
  if (!row) throw new JobGoneError(`Job "${jobId}" is not in the database.`);
  return row.event_seq;
}

/** `skip`: leave out the rows that another transaction has locked. */
export type LockMode = 'wait' | 'skip';

/**
 * Locks control rows for an exchange, in the order of their ids, and counts the rollouts that await
 * a reward. The count may include one whose reward arrives at this moment.
 */
export async function lockControls(
  tx: Tx,
  jobIds: readonly string[],
  mode: LockMode,
): Promise<Map<string, LockedControl>> {
  const rows = await tx.query<LockedControl & Record<string, unknown>>(
    `select c.job_id, c.control, c.lease_token, c.rollouts_succeeded, c.rollouts_failed, c.connect_failures,
            c.empty_answers, c.quota_refused, j.kind, j.dataset_id is not null as has_rows, ${total}::int as total, w.awaiting, w.overdue
       from job_controls c join jobs j on j.id = c.job_id cross join lateral (
         select count(*) as awaiting, count(*) filter (where deadline_at < clock_timestamp()) as overdue
           from rollouts
          where job_id = c.job_id and status = 'awaiting_reward' and deadline_at is not null and completed_at is null
       ) w
      where c.job_id = any($1) order by c.job_id for no key update of c ${mode === 'skip' ? 'skip locked' : ''}`,
    [jobIds],
    `lock_controls_${mode}`,
  );
  return new Map(rows.map((row) => [row.job_id, row]));
}

/** The counts that an event of a rollout needs. */
export interface CountedControl {
  rollouts_succeeded: number;
  rollouts_failed: number;
  kind: JobKind;
  /** Whether the job has a data set. */
  has_rows: boolean;
  /** The number of seeds of an evaluation; null: another kind of job. */
  total: number | null;
}

/** A job's control row in an exchange, under its lock. */
export interface LockedControl extends CountedControl {
  job_id: string;
  control: 'run' | 'pause' | 'stop';
  lease_token: number;
  connect_failures: number;
  empty_answers: EmptyCounts;
  quota_refused: boolean;
  /** The rollouts that await a reward, and those of them whose deadline has passed. */
  awaiting: number;
  overdue: number;
}

/** A job's control row, under its lock. */
export interface ControlRow extends CountedControl, Record<string, unknown> {
  control: 'run' | 'pause' | 'stop';
  /** Pauses of the job so far. */
  pauses: number;
  lease_token: number;
  connect_failures: number;
  status: Status;
  /** Counts the job's runs: each extension begins another, with its own workflow. */
  run: number;
  workflow_id: string;
}

/**
 * Appends events in the transaction that writes what they report; known keys are skipped. Call it
 * under `lockJob`, so that seq has no gaps.
 */
export async function appendEvents(tx: Tx, job: JobRef, events: NewEvent[]): Promise<void> {
  await appendEventsOf(tx, job.orgId, [{ jobId: job.jobId, events }]);
}

/** Like `appendEvents`, for many jobs of an organization, whose control rows must be locked. */
export async function appendEventsOf(
  tx: Tx,
  orgId: string,
  jobs: readonly { jobId: string; events: NewEvent[] }[],
): Promise<void> {
  const given = jobs.flatMap(({ jobId, events }) => events.map((event) => ({ job_id: jobId, ...event })));
  if (given.length === 0) return;
  await tx.query(
    `with fresh as materialized (
       select t.*, row_number() over (partition by job_id order by n) as r, count(*) over (partition by job_id) as added
         from rows from (jsonb_to_recordset($2::jsonb) as (job_id text, key text, type text, message text, data jsonb))
              with ordinality as t(job_id, key, type, message, data, n)
        -- One look-up per key: for a join Postgres may read all events of the job.
        where (select x.seq from events x where x.job_id = t.job_id and x.key = t.key) is null
     ), bumped as (
       update job_controls c set event_seq = c.event_seq + f.added
         from fresh f where f.r = 1 and c.job_id = f.job_id returning c.job_id, c.event_seq
     ), inserted as (
       insert into events (job_id, seq, org_id, key, type, message, data)
       select f.job_id, b.event_seq - f.added + f.r, $1, f.key, f.type, f.message, f.data
         from fresh f join bumped b on b.job_id = f.job_id
     )
     select pg_notify('ratchet_events', job_id) from fresh where r = 1`,
    [orgId, toJsonb(given)],
    'append_events',
  );
}
