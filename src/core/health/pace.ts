/** How fast a job goes on. */

/** What a job's record counts of its last outcomes; times in milliseconds since 1970. */
export interface LastOutcomes {
  /** In all. */
  completed: number;
  /** null: none yet. */
  lastMs: number | null;
  /** In the minute of the last one, and in the minute before that. */
  inMinute: number;
  before: number;
}

const minuteMs = 60_000;
/** A running job without an outcome for so long stands still. */
const stalledMs = 60_000;
/** Fewer outcomes, or a shorter time, are no rate yet. */
const leastOutcomes = 3;
const leastMs = 3_000;
/** What counts as lately: so long, or so many outcomes if they took longer. */
const latelyMs = 20_000;
const latelyOutcomes = 10;

/**
 * Rollouts in a minute, over the current one and the one before; null: not known yet. A minute with
 * outcomes from before `sinceMs`, when the job last went on, is not counted.
 */
export function paceOf(
  { completed, lastMs, inMinute, before }: LastOutcomes,
  { startedMs, sinceMs, nowMs }: { startedMs: number; sinceMs: number; nowMs: number },
): number | null {
  const wentOn = sinceMs > startedMs;
  const first = wentOn ? Math.ceil(sinceMs / minuteMs) : Math.floor(startedMs / minuteMs);
  const from = Math.max(Math.floor(nowMs / minuteMs) - 1, first);
  const tookMs = nowMs - Math.max(from * minuteMs, sinceMs);
  if (lastMs === null || completed < leastOutcomes || tookMs < leastMs) return null;
  const last = Math.floor(lastMs / minuteMs);
  const counted = (last >= from ? inMinute : 0) + (last - 1 >= from ? before : 0);
  return (counted * minuteMs) / tookMs;
}

/** Of the times of outcomes in their order, those that `recentPaceOf` may still need. */
export function recentOf(times: readonly number[]): number[] {
  const latelyFrom = times.findIndex((at) => at > times.at(-1)! - latelyMs);
  return times.slice(Math.max(0, Math.min(latelyFrom, times.length - latelyOutcomes - 1)));
}

/**
 * Rollouts in a minute lately, by the times of the outcomes in their order; null: not known yet.
 * `sinceMs`: when the job began or last went on.
 */
export function recentPaceOf(
  times: readonly number[],
  { sinceMs, nowMs }: { sinceMs: number; nowMs: number },
): number | null {
  const manyAgo = times.at(-1 - latelyOutcomes) ?? sinceMs;
  const fromMs = Math.max(sinceMs, Math.min(nowMs - latelyMs, manyAgo));
  const counted = times.filter((at) => at > fromMs && at <= nowMs).length;
  if (counted < leastOutcomes || nowMs - fromMs < leastMs) return null;
  return (counted * minuteMs) / (nowMs - fromMs);
}

/** Whether a job that runs since `sinceMs` has had no outcome for a minute. */
export function isStalled(lastMs: number | null, sinceMs: number, nowMs: number): boolean {
  return nowMs - Math.max(lastMs ?? sinceMs, sinceMs) >= stalledMs;
}

/** A limit of a job: what is left of it, and how much of that goes in an hour. */
export interface LimitLeft<By extends string> {
  by: By;
  /** null: no limit, or unknown. */
  left: number | null;
  perHour: number | null;
}

/** When the first limit is reached; null: none is, or nothing comes. */
export function firstEnd<By extends string>(
  limits: readonly LimitLeft<By>[],
  nowMs: number,
): { by: By; atMs: number } | null {
  const ends = limits.flatMap(({ by, left, perHour }) => {
    const isKnown = left !== null && left > 0 && perHour !== null && perHour > 0;
    return isKnown ? [{ by, atMs: nowMs + (left / perHour) * 60 * minuteMs }] : [];
  });
  return ends.sort((a, b) => a.atMs - b.atMs)[0] ?? null;
}
