/** Events of rollouts: results, rewards, concurrency. */
import { jobKinds, type JobKind } from '../jobs/kinds.js';
import type { Unit } from '../jobs/unit.js';
import type { Stage } from '../search/protocol.js';
import type { NewEvent } from './event.js';

/** A finished rollout, with the columns of its row. */
export interface FinishedRollout {
  id: string;
  idx: number;
  /** null: live traffic without a seed. */
  seed: number | null;
  /** Of a graph job. */
  task_id?: string | null;
  stage: Stage;
  generation: number;
  candidate_id: string | null;
  status: 'succeeded' | 'failed';
  reward: number | null;
  error: { message: string } | null;
}

/** `completed` counts the finished rollouts of the job, this one included. */
export interface Progress {
  completed: number;
  total: number | null;
}

/** `unit`: what the job runs on. */
export function rolloutEvent(
  { kind, unit }: { kind: JobKind; unit: Unit },
  rollout: FinishedRollout,
  progress: Progress,
): NewEvent {
  const message = summary(rollout, unit);
  return jobKinds[kind].isSearch
    ? rolloutCompleted(rollout, progress, message)
    : seedCompleted(rollout, progress, message);
}

function rolloutCompleted(
  rollout: FinishedRollout,
  { completed }: Progress,
  message: string,
): NewEvent<'rollout_completed'> {
  const { id, idx, candidate_id, stage, generation } = rollout;
  return {
    key: `rollout:${id}`,
    type: 'rollout_completed',
    message,
    data: { completed, ...commonFields(rollout), rollout_idx: idx, candidate_id, stage, generation },
  };
}

function seedCompleted(
  rollout: FinishedRollout,
  { completed, total }: Progress,
  message: string,
): NewEvent<'eval.policy.seed.completed'> {
  return {
    key: `rollout:${rollout.id}`,
    type: 'eval.policy.seed.completed',
    message: `${message} (${completed} of ${total})`,
    data: { completed, total, ...commonFields(rollout) },
  };
}

function summary({ seed, task_id: task, status, reward, error }: FinishedRollout, unit: Unit): string {
  const result =
    status === 'succeeded' ? `reward ${rounded(reward)}` : `failed: ${error?.message ?? 'no reason recorded'}`;
  if (seed === null) return result;
  return `${unit} ${task ?? seed}: ${result}`;
}

const rounded = (reward: number | null): string => String(reward === null ? null : Number(reward.toFixed(4)));

function commonFields({ id, seed, task_id, status, reward, error }: FinishedRollout) {
  const task = task_id != null && { task_id };
  return { rollout_id: id, trace_id: id, seed, ...task, status, reward, error: error?.message ?? null };
}

export function rewardReceived({
  rewardId,
  reward,
  rolloutId,
  correlationId,
  candidateId,
}: {
  rewardId: string;
  reward: number;
  rolloutId: string | null;
  correlationId: string | null;
  candidateId: string | null;
}): NewEvent<'reward_received'> {
  return {
    key: `reward:${rewardId}`,
    type: 'reward_received',
    message: `reward ${rounded(reward)} received${rolloutId === null ? '' : ` for ${rolloutId}`}`,
    data: {
      reward_id: rewardId,
      reward,
      rollout_id: rolloutId,
      correlation_id: correlationId,
      candidate_id: candidateId,
    },
  };
}

/** `times` counts how often the concurrency of the job was lowered. */
export function concurrencyLowered(
  times: number,
  { limit, max, because }: { limit: number; max: number; because: string | null },
): NewEvent<'concurrency_lowered'> {
  return {
    key: `concurrency:${times}`,
    type: 'concurrency_lowered',
    message: `concurrency lowered to ${limit} of ${max}: ${because}`,
    data: { limit, max_concurrent: max, because },
  };
}
