import { countedPace } from './outcome-counts.js';
import { taskIdOf } from './task-id.js';
import type { EmptyReason } from '../../core/answers/ending.js';
import type { NewEvent } from '../../core/events/event.js';
import { rolloutEvent, type FinishedRollout } from '../../core/events/rollouts.js';
import { unitOf } from '../../core/jobs/unit.js';
import { normalizeReward } from '../../core/math/rewards.js';
import { valueAt } from '../../contracts/validation.js';
import type { Tx } from '../../platform/db/db.js';
import { appendEvents, type ControlRow, type CountedControl, type JobRef } from '../../jobs/store/events.js';
import { toJsonb } from '../../platform/db/json.js';

/** The outcome of an attempt, written only if the attempt is current. */
export interface Outcome {
  rolloutId: string;
  attempt: number;
  status: 'succeeded' | 'failed' | 'awaiting_reward';
  reward: number | null;
  feedback: string | null;
  details: unknown;
  /** Why the model gave no answer; null: it did, or a container asked it. */
  empty: EmptyReason | null;
  error: { code: string; message: string; infrastructure: boolean; connect: boolean } | null;
  latencyMs: number;
}

/** A finished rollout as written. */
export interface WrittenRollout extends FinishedRollout, Record<string, unknown> {
  error: { code: string; message: string; connect?: boolean } | null;
}

export interface WrittenOutcome extends WrittenRollout {
  hasFeedback: boolean;
  empty: EmptyReason | null;
}

/** An outcome with its job, and the seconds that its rollout may take. */
export type JobOutcome = Outcome & { jobId: string; rolloutSeconds: number };

/** A rollout as written: finished, or waiting for its reward. */
export type WrittenRow = WrittenOutcome | (Omit<WrittenOutcome, 'status'> & { status: 'awaiting_reward' });
export const isFinished = (row: WrittenRow): row is WrittenOutcome => row.status !== 'awaiting_reward';

const reportedColumns = `r.id, r.idx, r.seed, r.stage, r.generation, r.candidate_id, r.status, r.reward, r.error,
  r.feedback is not null as "hasFeedback", r.empty, ${taskIdOf} as task_id`;

/** Tokens and cost of the calls of a rollout; null: none, or one of them is unknown. */
const callTotals = (rolloutId: string, jobId = '$1') =>
  `select case when bool_and(c.prompt_tokens is not null) then sum(c.prompt_tokens) end as prompt_tokens,
          case when bool_and(c.completion_tokens is not null) then sum(c.completion_tokens) end as completion_tokens,
          case when bool_and(c.cost_usd is not null) then sum(c.cost_usd) end as cost_usd
     from model_calls c where c.job_id = ${jobId} and c.rollout_id = ${rolloutId}`;

/**
 * Writes outcomes of current attempts and returns them by job. A rollout with an earlier reported
 * reward succeeds with it.
 */
export async function writeOutcomes(tx: Tx, outcomes: readonly JobOutcome[]): Promise<Map<string, WrittenRow[]>> {
  const byJob = new Map<string, WrittenRow[]>();
  if (outcomes.length === 0) return byJob;
  const rows = await tx.query<WrittenRow & { job_id: string }>(
    `update rollouts r
        set status = case when w.id is null then o.status else 'succeeded' end, reward = coalesce(w.reward, o.reward),
            feedback = coalesce(w.details->>'feedback', o.feedback), details = coalesce(w.details, o.details), empty = o.empty,
            error = case when w.id is null then o.error end, latency_ms = o.latency_ms,
            started_at = coalesce(r.started_at, clock_timestamp() - make_interval(secs => o.latency_ms / 1000)),
            deadline_at = case when o.status = 'awaiting_reward' and w.id is null
                               then clock_timestamp() + make_interval(secs => o.seconds - o.latency_ms / 1000) end,
            completed_at = case when o.status = 'awaiting_reward' and w.id is null then null else clock_timestamp() end,
            prompt_tokens = u.prompt_tokens, completion_tokens = u.completion_tokens, cost_usd = u.cost_usd
       from jsonb_to_recordset($1::jsonb) as o(job_id text, id text, attempt int, status text, reward float8,
              feedback text, details jsonb, empty text, error jsonb, latency_ms float8, seconds float8)
       left join lateral (${callTotals('o.id', 'o.job_id')}) u on true
       -- The first reported reward stays; a later one from the container changes nothing.
       left join lateral (
         select w.id, w.reward, coalesce(w.body->'reward_info'->'details', w.body->'reward_info') as details
           from rewards w
          where w.job_id = o.job_id and w.rollout_id = o.id and w.counted
       ) w on true
      where r.id = o.id and r.job_id = o.job_id and r.attempt = o.attempt and r.status = 'running'
      returning r.job_id, ${reportedColumns}`,
    [
      toJsonb(
        outcomes.map((o) => ({
          job_id: o.jobId,
          id: o.rolloutId,
          attempt: o.attempt,
          status: o.status,
          reward: o.reward,
          feedback: o.feedback,
          details: o.details,
          empty: o.empty,
          error: o.error,
          latency_ms: o.latencyMs,
          seconds: o.rolloutSeconds,
        })),
      ),
    ],
    'write_outcomes',
  );
  for (const row of rows) {
    const of = byJob.get(row.job_id);
    if (of) of.push(row);
    else byJob.set(row.job_id, [row]);
  }
  return byJob;
}

/** Outcome of a deferred reward that missed the deadline. */
export async function expireAwaiting(tx: Tx, job: Pick<JobRef, 'jobId'>): Promise<WrittenRollout[]> {
  return tx.query<WrittenRollout>(
    `update rollouts r set status = 'failed', completed_at = clock_timestamp(), error = $2::jsonb,
            (prompt_tokens, completion_tokens, cost_usd) = (${callTotals('r.id')})
      where r.job_id = $1 and r.status = 'awaiting_reward' and r.completed_at is null
        and r.deadline_at < clock_timestamp()
      returning ${reportedColumns}`,
    [
      job.jobId,
      toJsonb({
        code: 'reward_timeout',
        message: 'The container deferred the reward, and none was reported within rollout_timeout.',
        infrastructure: false,
        connect: false,
      }),
    ],
  );
}

/** One event per outcome; `row` is the control row before them. */
export function outcomeEvents(row: CountedControl, written: readonly WrittenRollout[]): NewEvent[] {
  const unit = unitOf({ kind: row.kind, rows: row.has_rows });
  const finished = row.rollouts_succeeded + row.rollouts_failed;
  return written.map((rollout, index) =>
    rolloutEvent({ kind: row.kind, unit }, rollout, { completed: finished + index + 1, total: row.total }),
  );
}

/**
 * Completes the slot of a live rollout: the rollout takes the slot's ordinal. Call it under
 * `lockJob`; the caller appends the events.
 */
export async function completeAssignment(
  tx: Tx,
  job: JobRef,
  { rolloutId, reward, details }: ReportedOutcome,
): Promise<void> {
  await Promise.all([
    tx.query(
      `with slot as (
         delete from slots where job_id = $1 and ordinal = (select slot from rollouts where id = $2) returning ordinal
       )
       update rollouts r
          set status = 'succeeded', ordinal = slot.ordinal, reward = $3, details = $4::jsonb, feedback = $4::jsonb->>'feedback',
              completed_at = clock_timestamp(), prompt_tokens = u.prompt_tokens, completion_tokens = u.completion_tokens,
              cost_usd = u.cost_usd
         from slot, lateral (${callTotals('$2')}) u
        where r.job_id = $1 and r.id = $2`,
      [job.jobId, rolloutId, reward, toJsonb(details ?? null)],
      'complete_assignment',
    ),
    countSucceeded(tx, job, { reward, hasFeedback: valueAt(details, 'feedback') != null }),
  ]);
}

async function countSucceeded(
  tx: Tx,
  job: JobRef,
  { reward, hasFeedback }: { reward: number | null; hasFeedback: boolean },
): Promise<void> {
  await tx.query(
    `update job_controls c
        set rollouts_succeeded = rollouts_succeeded + 1, connect_failures = 0, ${countedPace('c', '1')},
            reward_low = least(reward_low, $2), reward_high = greatest(reward_high, $2),
            reward_sum = reward_sum + $4, rollouts_with_feedback = rollouts_with_feedback + $3
      where job_id = $1`,
    [job.jobId, reward, Number(hasFeedback), normalizeReward(reward ?? 0)],
  );
}

/** A reward reported for a rollout. */
export interface ReportedOutcome {
  rolloutId: string;
  reward: number;
  details: unknown;
}

/**
 * Settles a rollout that awaits its reward, with its event, and wakes the runner. False: it does
 * not await one. Call it under `lockJob`.
 */
export async function settleAwaited(
  tx: Tx,
  job: JobRef,
  row: ControlRow,
  { rolloutId, reward, details }: ReportedOutcome,
): Promise<boolean> {
  const written = await tx.query<WrittenOutcome>(
    `update rollouts r set status = 'succeeded', reward = $3, details = $4::jsonb,
            feedback = coalesce($4::jsonb->>'feedback', feedback), completed_at = clock_timestamp(),
            -- A container that has answered 202 goes on making calls.
            (prompt_tokens, completion_tokens, cost_usd) = (${callTotals('r.id')})
      where r.job_id = $1 and r.id = $2 and r.status = 'awaiting_reward'
      returning ${reportedColumns}`,
    [job.jobId, rolloutId, reward, toJsonb(details ?? null)],
  );
  if (written.length === 0) return false;
  await Promise.all([appendEvents(tx, job, outcomeEvents(row, written)), countSucceeded(tx, job, written[0]!)]);
  await tx.query(`select pg_notify('ratchet_control', $1)`, [job.jobId]);
  return true;
}
