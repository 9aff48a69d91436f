import fc from 'fast-check';
import { isTerminal, type Call, type ExpectedState } from './table.js';

/** A reported reward as the inbox must hold it; without a rollout it is the job's. */
interface InboxEntry {
  rollout: string | null;
  reward: number;
  counted: boolean;
}

/** What is known of one job; maps are by rollout id. */
export interface Job {
  id: string;
  kind: 'evaluation' | 'session';
  /** The seeds of an evaluation, in its order; those that a session evaluates on. */
  seeds: number[];
  maxConcurrent: number;
  state: ExpectedState;
  /** Sent while no worker lived, not yet decided. */
  pending: (Call & { commandId: string | null })[];
  /** Terminated in Temporal, and the reconciler is about to fail it. */
  dying: boolean;
  wasTerminated: boolean;
  /** Rollouts of which the container has said that the reward comes later. */
  awaited: Set<string>;
  /** Rewards of rollouts that have ended. */
  outcomes: Map<string, number>;
  /** Whether an outcome came since the job was last at rest: a session may be about to end. */
  stirred: boolean;
  inbox: InboxEntry[];
  /** When a pause that still holds was answered, in epoch milliseconds. */
  pausedAt: number | null;
  /** Container calls when the last pause was known to everybody; null: not yet. */
  callsWhenPaused: number | null;
  /** The job as it was first seen at its end. */
  atEnd: Record<string, unknown> | null;
}

/** What the tests believe; the commands keep it in step with the service and compare. */
export interface Model {
  jobs: Job[];
  workerLives: boolean;
  /** Whether this sequence may kill processes, which costs seconds each time. */
  mayKill: boolean;
  /** kill -9 of the worker so far. */
  kills: number;
  /** Commands since the worker was killed; each waits 2 s, so a sequence has few of them. */
  sinceKill: number;
  /** What ran, in order. */
  ran: string[];
  /** The cells of the table that were met: `running pause`, say. */
  cells: Set<string>;
}

export const newModel = (mayKill: boolean): Model => ({
  jobs: [],
  workerLives: true,
  mayKill,
  kills: 0,
  sinceKill: 0,
  ran: [],
  cells: new Set(),
});

/** Numbers that stand for jobs. */
export const slots = fc.nat(7);

/** The job of a slot; undefined without jobs. Odd slots prefer open jobs. */
export function jobAt({ jobs }: Readonly<Model>, slot: number): Job | undefined {
  const open = jobs.filter((job) => !isTerminal(job.state.status));
  const among = slot % 2 === 1 && open.length > 0 ? open : jobs;
  return among[Math.floor(slot / 2) % among.length];
}

/** The job's rollout has ended with this reward. */
export function end(job: Job, rollout: string, reward: number): void {
  job.awaited.delete(rollout);
  job.outcomes.set(rollout, reward);
  job.stirred = true;
}

/** Whether all of the job's work is done. Of a session only the service knows. */
export const isDone = (job: Job): boolean => job.kind === 'evaluation' && job.outcomes.size === job.seeds.length;
