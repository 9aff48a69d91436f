import { v7 as uuidv7 } from 'uuid';
import { isTerminal, type Status } from '../../core/jobs/status.js';
import type { Stage } from '../../core/search/protocol.js';
import { rewardReceived } from '../../core/events/rollouts.js';
import { callerRolloutId } from './calls.js';
import type { Tx } from '../../platform/db/db.js';
import { appendEvents, lockJob, type ControlRow, type JobRef } from '../../jobs/store/events.js';
import { toJsonb } from '../../platform/db/json.js';
import { completeAssignment, outcomeEvents, settleAwaited } from './outcomes.js';
import { signalWhenComplete } from './slots.js';

/** A reported reward; `body` is stored unchanged. */
export interface ReportedReward {
  reward: number;
  rolloutId: string | null;
  correlationId: string | null;
  candidateId: string | null;
  details: unknown;
  body: unknown;
}

/**
 * `duplicate`: already reported. `conflict`: the rollout has another reward, `recorded`. `late`:
 * the rollout failed or was cancelled. Late and closed rewards do not count.
 */
export interface RewardOutcome {
  is: 'counted' | 'duplicate' | 'conflict' | 'late' | 'closed';
  status: Status;
  rolloutId: string | null;
  recorded: number | null;
  /** Whether no call and no rollout had the id of the reward so far. */
  unseen: boolean;
  /** All requested live rollouts are complete: signal the workflow. */
  wakes: boolean;
}

/** The rollout of a reward and its state. */
interface Target extends Record<string, unknown> {
  /** Set even if no call has used the id yet; null: the reward names no rollout. */
  rolloutId: string | null;
  /** null: the rollout does not exist (yet). */
  status: 'queued' | 'running' | 'awaiting_reward' | 'succeeded' | 'failed' | 'cancelled' | 'open' | null;
  reward: number | null;
  /** The counted reward reported before. */
  reported: number | null;
  /** Whether the rollout holds a slot of the search. */
  hasSlot: boolean;
  idx: number;
  seed: number | null;
  stage: Stage;
  generation: number;
  candidate_id: string | null;
}

/** Stores a reward, once per rollout, and settles the rollout that awaits it. */
export async function recordReward(tx: Tx, job: JobRef, reported: ReportedReward): Promise<RewardOutcome> {
  // Pipelined: rewards of a job take turns at its lock, and each round trip delays the others.
  const [row, target] = await Promise.all([lockJob(tx, job), findTarget(tx, job, reported)]);
  const { rolloutId } = target;
  const { status } = row;
  const outcome = (is: RewardOutcome['is'], recorded: number | null = null, wakes = false) => {
    return { is, status, rolloutId, recorded, unseen: rolloutId !== null && target.status === null, wakes };
  };

  if (isTerminal(status)) {
    // One for each rollout, so that callers cannot fill the table of a closed job.
    if (target.status !== null)
      await insertReward(tx, job, { ...reported, rolloutId, id: newRewardId(), counted: false });
    return outcome('closed');
  }
  const recorded = target.reported ?? (target.status === 'succeeded' ? target.reward : null);
  if (recorded !== null) return outcome(recorded === reported.reward ? 'duplicate' : 'conflict', recorded);
  if (target.status === 'failed' || target.status === 'cancelled') {
    await insertReward(tx, job, { ...reported, rolloutId, id: newRewardId(), counted: false });
    return outcome('late');
  }
  return outcome('counted', null, await count(tx, job, row, target, reported));
}

/** Stores a counted reward and applies it. Returns whether no more are missing. */
async function count(tx: Tx, job: JobRef, row: ControlRow, target: Target, reported: ReportedReward): Promise<boolean> {
  const { rolloutId, status } = target;
  const { reward, details } = reported;
  const rewardId = newRewardId();
  const inserted = insertReward(tx, job, { ...reported, rolloutId, id: rewardId, counted: true });
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
 * The rollout of a reward, by its id or its correlation id (also before its first call). The
 * session's own correlation id is on every reward and identifies no rollout.
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
  if (!row) throw new Error(`Job "${job.jobId}" not found.`);
  return row;
}

function newRewardId(): string {
  return `rwd_${uuidv7().replaceAll('-', '')}`;
}

async function insertReward(
  tx: Tx,
  job: JobRef,
  stored: ReportedReward & { id: string; counted: boolean },
): Promise<void> {
  const { id, rolloutId, correlationId, candidateId, reward, body, counted } = stored;
  await tx.query(
    `insert into rewards (id, org_id, job_id, rollout_id, correlation_id, candidate_id, reward, body, counted)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
    [id, job.orgId, job.jobId, rolloutId, correlationId, candidateId, reward, toJsonb(body), counted],
  );
}
