import fc from 'fast-check';
import { isTerminal } from '../../src/core/jobs/status.js';
import { type Call, type ExpectedState } from './table.js';

/** A reported reward, as expected in the inbox; without a rollout it belongs to the job. */
interface InboxEntry {
  rollout: string | null;
  reward: number;
  counted: boolean;
}

/** The expected state of one job; maps are by rollout id. */
export interface Job {
  id: string;
  kind: 'evaluation' | 'session';
  /** The seeds of an evaluation, in order; the evaluation seeds of a session. */
  seeds: number[];
  maxConcurrent: number;
  state: ExpectedState;
  /** Sent without a live worker, not yet decided. */
  pending: (Call & { commandId: string | null })[];
  /** Terminated in Temporal, not yet failed by the reconciler. */
  dying: boolean;
  wasTerminated: boolean;
  /** Rollouts with an announced late reward. */
  awaited: Set<string>;
  /** Rewards of ended rollouts. */
  outcomes: Map<string, number>;
  /** Whether an outcome arrived since the last rest: a session may be about to end. */
  stirred: boolean;
  inbox: InboxEntry[];
  /** When the current pause was answered, in epoch milliseconds. */
  pausedAt: number | null;
  /** Container calls when the last pause reached every process; null: not yet. */
  callsWhenPaused: number | null;
  /** The job as first seen at its end. */
  atEnd: Record<string, unknown> | null;
}

/** A job as created. */
export const newJob = (given: Pick<Job, 'id' | 'kind' | 'seeds' | 'maxConcurrent'>): Job => ({
  ...given,
  state: { status: 'running', paused: 0, resumed: 0 },
  pending: [],
  dying: false,
  wasTerminated: false,
  awaited: new Set(),
  outcomes: new Map(),
  stirred: false,
  inbox: [],
  pausedAt: null,
  callsWhenPaused: null,
  atEnd: null,
});

/** The expected state of the service; commands update it and compare. */
export interface Model {
  jobs: Job[];
  workerLives: boolean;
  /** Whether this sequence may kill processes, which takes seconds each time. */
  mayKill: boolean;
  /** kill -9 of the worker so far. */
  kills: number;
  /** Commands since the worker was killed; each waits 2 s, so a sequence has few of them. */
  sinceKill: number;
  /** The executed commands, in order. */
  ran: string[];
  /** The covered cells of the table, such as `running pause`. */
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

/** Integers that select jobs. */
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

/** Whether all of the job's work is done; for a session only the service knows. */
export const isDone = (job: Job): boolean => job.kind === 'evaluation' && job.outcomes.size === job.seeds.length;
