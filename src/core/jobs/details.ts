/** What a job does or waits for, and since when, in words, for the Temporal UI. */
import { counted } from '../math/words.js';
import type { JobProgress } from './progress.js';

/** Rollouts whose reward a container reports later; `since`: the oldest. */
export interface AwaitedRewards {
  rollouts: number;
  since: string;
}

/** Times are epoch milliseconds of the workflow's clock; null: it does not wait for that. */
export interface Waits {
  /** The container and the models are being checked. */
  preparingSince: number | null;
  pausedSince: number | null;
  /** Only live traffic can go on with the search. */
  trafficSince: number | null;
  rewards: AwaitedRewards | null;
}

/** The rest of a job's running time. */
export interface TimeLeft {
  leftMs: number;
  isRunning: boolean;
}

export const noWaits: Waits = { preparingSince: null, pausedSince: null, trafficSince: null, rewards: null };

/** One line each for its waits, its progress, what comes next and its time limit. */
export function detailsOf(waits: Waits, progress: JobProgress | null, time: TimeLeft | null, now: number): string {
  const waiting = waitsOf(waits, progress);
  const next = progress && waiting.length === 0 ? [`next: ${progress.next}`] : [];
  return [...waiting, ...(progress ? [progress.details] : []), ...next, ...limitOf(time, now)].join('\n');
}

function waitsOf({ preparingSince, pausedSince, trafficSince, rewards }: Waits, progress: JobProgress | null) {
  const work = progress ? ` (${progress.next})` : '';
  return [
    ...(pausedSince === null ? [] : [`paused since ${iso(pausedSince)}, until it is resumed`]),
    ...(preparingSince === null ? [] : [`checks the container and the models since ${iso(preparingSince)}`]),
    ...(trafficSince === null ? [] : [`waits for live traffic and its rewards since ${iso(trafficSince)}${work}`]),
    ...(rewards === null
      ? []
      : [`waits for the rewards of ${counted(rewards.rollouts, 'answer')} since ${rewards.since}`]),
  ];
}

function limitOf(time: TimeLeft | null, now: number): string[] {
  if (!time) return [];
  const { leftMs, isRunning } = time;
  if (isRunning) return [`the time limit ends it at ${iso(now + leftMs)}`];
  return [`${Math.max(0, Math.ceil(leftMs / 60_000))} min of the time limit are left`];
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
