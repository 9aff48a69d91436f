import type { JobKind } from '../../core/jobs/kinds.js';
import type { Status } from '../../core/jobs/status.js';
import type { JobTrace, TracedRun } from '../../core/jobs/trace.js';
import type { Tx } from '../../platform/db/db.js';
import { jsonFields } from '../../platform/db/json-fields.js';
import type { JobRef } from './events.js';
import type { SessionProjection } from './projection.js';

/** Stores the place of a new job among traces. */
export async function insertTrace(tx: Tx, { orgId, jobId }: JobRef, trace: JobTrace): Promise<void> {
  await tx.query('insert into job_traces (job_id, org_id, trace_id, parent_id, sampled) values ($1, $2, $3, $4, $5)', [
    jobId,
    orgId,
    trace.traceId,
    trace.parentId,
    trace.sampled,
  ]);
}

/** The trace of a job's current run; null: the job has none. */
export async function readTrace(tx: Tx, jobId: string): Promise<TracedRun | null> {
  const [row] = await tx.query<TracedRun & Record<string, unknown>>(
    `select t.job_id as "jobId", j.run, t.trace_id as "traceId", t.parent_id as "parentId", t.sampled
       from job_traces t join jobs j on j.id = t.job_id where t.job_id = $1`,
    [jobId],
    'read_trace',
  );
  return row ?? null;
}

/** Model calls of this generation are about to be made: its span must exist. */
export async function noteGeneration(tx: Tx, jobId: string, generation: number): Promise<void> {
  await tx.query('update job_traces set generation = greatest(generation, $2) where job_id = $1', [jobId, generation]);
}

/** The spans of an ended run are to be sent. */
export async function markTraceDue(tx: Tx, jobId: string): Promise<void> {
  await tx.query('update job_traces set due_at = now() where job_id = $1 and sampled', [jobId]);
}

/** Jobs whose spans are to be sent, of all organizations, in a `worker` transaction. */
export function readDueTraces(tx: Tx, limit: number): Promise<JobRef[]> {
  return tx.query('select org_id as "orgId", job_id as "jobId" from due_traces($1)', [limit]);
}

/** An ended job as its span shows it. */
export interface EndedJob extends TracedRun {
  kind: JobKind;
  algorithm: string | null;
  status: Status;
  stoppedBy: string | null;
  errorCode: string | null;
  bestReward: number | null;
  createdAt: Date;
  completedAt: Date;
  /** The last generation with model calls; -1: none. */
  generation: number;
  /** The rollouts below this ordinal are sent. */
  sentThrough: number;
}

const jobColumns = `j.id as "jobId", j.run, j.kind, j.algorithm, j.status, j.stopped_by as "stoppedBy",
  j.error_details->>'code' as "errorCode",
  ${jsonFields<SessionProjection>('j.projection').text('bestReward')}::float8 as "bestReward",
  j.created_at as "createdAt", j.completed_at as "completedAt"`;

/** Takes a job for a while, to send its spans; null: it was taken, or runs again. */
export async function takeDueTrace(tx: Tx, jobId: string): Promise<EndedJob | null> {
  const [row] = await tx.query<EndedJob & Record<string, unknown>>(
    `with taken as (
       update job_traces set due_at = now() + interval '1 minute' where job_id = $1 and due_at <= now() returning *
     )
     select ${jobColumns}, t.trace_id as "traceId", t.parent_id as "parentId", t.sampled, t.generation,
            t.sent_through as "sentThrough"
       from taken t join jobs j on j.id = t.job_id where j.completed_at is not null`,
    [jobId],
  );
  return row ?? null;
}

/** A job as its span shows it at any time. */
export interface RecordedJob extends Omit<EndedJob, 'traceId' | 'completedAt' | 'sentThrough'> {
  /** null: the job was not traced. */
  traceId: string | null;
  /** null: it runs. */
  completedAt: Date | null;
}

export async function readRecordedJob(tx: Tx, jobId: string): Promise<RecordedJob | null> {
  const [row] = await tx.query<RecordedJob & Record<string, unknown>>(
    `select ${jobColumns}, t.trace_id as "traceId", t.parent_id as "parentId", coalesce(t.sampled, true) as sampled,
            coalesce(t.generation, -1) as generation
       from jobs j left join job_traces t on t.job_id = j.id where j.id = $1`,
    [jobId],
  );
  return row ?? null;
}

/**
 * The spans of the run are sent, with those of all rollouts below `sentThrough`. An extension runs
 * the cancelled ones again.
 */
export async function settleTrace(tx: Tx, { jobId, run }: TracedRun, sentThrough: number): Promise<void> {
  await tx.query(
    `update job_traces
        set due_at = null,
            sent_through = coalesce(
              (select min(ordinal) from rollouts where job_id = $1 and status = 'cancelled'), $3)
      where job_id = $1 and (select run from jobs where id = $1) = $2`,
    [jobId, run, sentThrough],
  );
}

/** Gives up a job whose spans no collector took for a day. */
export async function giveUpTrace(tx: Tx, jobId: string): Promise<void> {
  await tx.query(
    `update job_traces set due_at = null
      where job_id = $1 and (select completed_at from jobs where id = $1) < now() - interval '1 day'`,
    [jobId],
  );
}

/** A rollout as its span shows it. */
export interface TracedRollout extends Record<string, unknown> {
  id: string;
  ordinal: number;
  candidateId: string | null;
  stage: string | null;
  generation: number | null;
  seed: number | null;
  status: string;
  tries: number;
  reward: number | null;
  errorCode: string | null;
  promptTokens: number | null;
  completionTokens: number | null;
  costUsd: number | null;
  startedAt: Date;
  completedAt: Date;
}

/** SQL of whether a rollout `r` has a span: it was begun and has ended. */
export const hasSpan = `(r.completed_at is not null and (r.attempt > 0 or r.source = 'caller'))`;

/** A page of a job's rollouts that were begun, from an ordinal on. */
export function readTracedRollouts(tx: Tx, jobId: string, from: number, limit: number): Promise<TracedRollout[]> {
  return tx.query<TracedRollout>(
    `select id, ordinal, candidate_id as "candidateId", stage, generation, seed, status, attempt as tries, reward,
            error->>'code' as "errorCode", prompt_tokens as "promptTokens", completion_tokens as "completionTokens",
            cost_usd as "costUsd", coalesce(started_at, created_at) as "startedAt", completed_at as "completedAt"
       from rollouts r
      where job_id = $1 and ordinal >= $2 and ${hasSpan}
      order by ordinal limit $3`,
    [jobId, from, limit],
  );
}
