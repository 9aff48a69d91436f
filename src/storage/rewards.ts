import { v7 as uuidv7 } from 'uuid';
import { isTerminal, type Status } from '../core/status.js';
import { callerRolloutId } from './calls.js';
import type { Tx } from './db.js';
import { appendEvents, lockJob, type JobRef } from './events.js';
import { toJsonb } from './json.js';
import { settleAwaited } from './outcomes.js';

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
}

interface Target extends Record<string, unknown> {
  id: string;
  status: 'queued' | 'running' | 'awaiting_reward' | 'succeeded' | 'failed' | 'cancelled' | 'open';
  reward: number | null;
}

/** Puts a reward into the job's inbox, once for each rollout, and settles the rollout that waits for it. */
export async function recordReward(tx: Tx, job: JobRef, reported: ReportedReward): Promise<RewardOutcome> {
  const { status } = await lockJob(tx, job);
  const target = await findRollout(tx, job, reported);
  const rolloutId = target?.id ?? (await namedRollout(tx, job, reported));
  const outcome = (is: RewardOutcome['is'], recorded: number | null = null) => ({ is, status, rolloutId, recorded });

  if (isTerminal(status)) {
    await insertReward(tx, job, reported, rolloutId, false);
    return outcome('closed');
  }
  const recorded =
    (await recordedReward(tx, job, rolloutId)) ?? (target?.status === 'succeeded' ? target.reward : null);
  if (recorded !== null) return outcome(recorded === reported.reward ? 'duplicate' : 'conflict', recorded);
  if (target?.status === 'failed' || target?.status === 'cancelled') {
    await insertReward(tx, job, reported, rolloutId, false);
    return outcome('late');
  }

  const rewardId = await insertReward(tx, job, reported, rolloutId, true);
  await appendEvents(tx, job, [
    {
      key: `reward:${rewardId}`,
      type: 'reward_received',
      message: `reward ${reported.reward}${rolloutId ? ` for ${rolloutId}` : ''}`,
      data: {
        reward_id: rewardId,
        reward: reported.reward,
        rollout_id: rolloutId,
        correlation_id: reported.correlationId,
        candidate_id: reported.candidateId,
      },
    },
  ]);
  if (target?.status === 'awaiting_reward') {
    await settleAwaited(tx, { ...job, rolloutId: target.id, reward: reported.reward, details: reported.details });
  } else if (target?.status === 'open') {
    await tx.query(`update rollouts set reward = $2 where id = $1 and status = 'open'`, [target.id, reported.reward]);
  }
  return outcome('counted');
}

/** The rollout meant: by its id, or by its correlation id. */
async function findRollout(tx: Tx, job: JobRef, { rolloutId, correlationId }: ReportedReward): Promise<Target | null> {
  const named = rolloutId
    ? [rolloutId]
    : correlationId
      ? [correlationId, callerRolloutId(job.jobId, correlationId)]
      : [];
  const [row] = await tx.query<Target>(
    'select id, status, reward from rollouts where job_id = $1 and id = any($2) limit 1',
    [job.jobId, named],
  );
  return row ?? null;
}

/** A correlation id names a rollout before its first call, too; the session's own is on every reward and names none. */
async function namedRollout(tx: Tx, job: JobRef, { rolloutId, correlationId }: ReportedReward): Promise<string | null> {
  if (rolloutId !== null || correlationId === null) return rolloutId;
  const [row] = await tx.query<{ correlation_id: string | null }>('select correlation_id from jobs where id = $1', [
    job.jobId,
  ]);
  return correlationId === row?.correlation_id ? null : callerRolloutId(job.jobId, correlationId);
}

async function recordedReward(tx: Tx, job: JobRef, rolloutId: string | null): Promise<number | null> {
  const [row] = await tx.query<{ reward: number }>(
    'select reward from rewards where job_id = $1 and rollout_id = $2 and counted',
    [job.jobId, rolloutId],
  );
  return row?.reward ?? null;
}

async function insertReward(
  tx: Tx,
  job: JobRef,
  reported: ReportedReward,
  rolloutId: string | null,
  counted: boolean,
): Promise<string> {
  const id = `rwd_${uuidv7().replaceAll('-', '')}`;
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
  return id;
}
