import { v7 as uuidv7 } from 'uuid';
import { isTerminal, type Status } from '../../core/jobs/status.js';
import type { Stage } from '../../core/search/protocol.js';
import { rewardReceived } from '../../core/events/rollouts.js';
import { callerRolloutId } from './calls.js';
import type { Tx } from '../db/db.js';
import { appendEvents, lockJob, type ControlRow, type JobRef } from '../jobs/events.js';
import { toJsonb } from '../db/json.js';
import { completeAssignment, outcomeEvents, settleAwaited } from './outcomes.js';
import { signalWhenComplete } from './slots.js';

/** A reward as it was reported. `body` is kept as it came. */
export interface ReportedReward {
  reward: number;
  rolloutId: string | null;
  correlationId: string | null;
  candidateId: string | null;
  details: unknown;
  body: unknown;
}

/**
 * What became of it. `duplicate`: the same was reported before. `conflict`: the rollout has another one, `recorded`.
 * `late`: the rollout has failed or was cancelled. `closed`: the job is closed; late and closed ones are kept, uncounted.
 */
export interface RewardOutcome {
  is: 'counted' | 'duplicate' | 'conflict' | 'late' | 'closed';
  status: Status;
  rolloutId: string | null;
  recorded: number | null;
  /** All that the job's workflow wanted of live traffic is answered now: it is to be told. */
  wakes: boolean;
}

/** The rollout that a reward is for, and what is known of it. */
interface Target extends Record<string, unknown> {
  /** Also of one that nothing has called yet; null: the reward names none. */
  rolloutId: string | null;
  /** null: there is no such rollout (yet). */
  status: 'queued' | 'running' | 'awaiting_reward' | 'succeeded' | 'failed' | 'cancelled' | 'open' | null;
  reward: number | null;
  /** What was reported for it before, and counted. */
  reported: number | null;
  /** Whether the search waits for it: a live call that has claimed what is still wanted. */
  hasSlot: boolean;
  idx: number;
  seed: number | null;
  stage: Stage;
  generation: number;
  candidate_id: string | null;
}

/** Puts a reward into the job's inbox, once for each rollout, and settles the rollout that waits for it. */
export async function recordReward(tx: Tx, job: JobRef, reported: ReportedReward): Promise<RewardOutcome> {
  // Sent together: rewards of a job take turns at its lock, and each round trip under it holds up all others.
  const [row, target] = await Promise.all([lockJob(tx, job), findTarget(tx, job, reported)]);
  const { rolloutId } = target;
  const { status } = row;
  const outcome = (is: RewardOutcome['is'], recorded: number | null = null, wakes = false) => {
    return { is, status, rolloutId, recorded, wakes };
  };

  if (isTerminal(status)) {
    await insertReward(tx, job, reported, rolloutId, false);
    return outcome('closed');
  }
  const recorded = target.reported ?? (target.status === 'succeeded' ? target.reward : null);
  if (recorded !== null) return outcome(recorded === reported.reward ? 'duplicate' : 'conflict', recorded);
  if (target.status === 'failed' || target.status === 'cancelled') {
    await insertReward(tx, job, reported, rolloutId, false);
    return outcome('late');
  }
  return outcome('counted', null, await count(tx, job, row, target, reported));
}

/** Keeps a reward that counts and gives it to its rollout; answers whether it was the last that the workflow waits for. */
async function count(tx: Tx, job: JobRef, row: ControlRow, target: Target, reported: ReportedReward): Promise<boolean> {
  const { rolloutId, status } = target;
  const { reward, details } = reported;
  const rewardId = newRewardId();
  const inserted = insertReward(tx, job, reported, rolloutId, true, rewardId);
  const { correlationId, candidateId } = reported;
  const received = rewardReceived({ rewardId, reward, rolloutId, correlationId, candidateId });
  if (rolloutId !== null && target.hasSlot) {
    const written = { ...target, id: rolloutId, status: 'succeeded' as const, reward, error: null };
    const [, , , wakes] = await Promise.all([
      inserted,
      completeAssignment(tx, job, { rolloutId, reward, details }),
      appendEvents(tx, job, [received, ...outcomeEvents(row, [written])]),
      signalWhenComplete(tx, job.jobId),
    ]);
    return wakes;
  }
  await Promise.all([inserted, appendEvents(tx, job, [received])]);
  if (rolloutId !== null && status === 'awaiting_reward') {
    await settleAwaited(tx, job, row, { rolloutId, reward, details });
  } else if (status === 'open') {
    await tx.query(`update rollouts set reward = $2 where id = $1 and status = 'open'`, [rolloutId, reward]);
  }
  return false;
}

/**
 * The rollout meant, by its id or by its correlation id: that names a rollout before its first call, too; the session's own is
 * on every reward and names none.
 */
async function findTarget(tx: Tx, job: JobRef, { rolloutId, correlationId }: ReportedReward): Promise<Target> {
  const live = correlationId === null ? null : callerRolloutId(job.jobId, correlationId);
  const [row] = await tx.query<Target>(
    `select n.id as "rolloutId", r.status, r.reward, r.idx, r.seed, r.stage, r.generation, r.candidate_id,
            w.reward as reported, exists (select 1 from slots s where s.job_id = j.id and s.ordinal = r.slot) as "hasSlot"
       from jobs j
       left join lateral (select * from rollouts where job_id = j.id and id = any($2)
                           order by id = $5 desc nulls last limit 1) r on true
      cross join lateral (
        select coalesce(r.id, $3, case when $4 is distinct from j.correlation_id then $5 end) as id
      ) n
       left join rewards w on w.job_id = j.id and w.rollout_id = n.id and w.counted
      where j.id = $1`,
    [job.jobId, rolloutId ? [rolloutId] : [correlationId, live], rolloutId, correlationId, live],
    'find_rewarded',
  );
  if (!row) throw new Error(`the job ${job.jobId} is gone`);
  return row;
}

function newRewardId(): string {
  return `rwd_${uuidv7().replaceAll('-', '')}`;
}

async function insertReward(
  tx: Tx,
  job: JobRef,
  reported: ReportedReward,
  rolloutId: string | null,
  counted: boolean,
  id = newRewardId(),
): Promise<void> {
  await tx.query(
    `insert into rewards (id, org_id, job_id, rollout_id, correlation_id, candidate_id, reward, body, counted)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
    [
      id,
      job.orgId,
      job.jobId,
      rolloutId,
      reported.correlationId,
      reported.candidateId,
      reported.reward,
      toJsonb(reported.body),
      counted,
    ],
  );
}
