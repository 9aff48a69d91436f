/** How fast a job goes on. */

/** What a job's record counts of its last outcomes; times in milliseconds since 1970. */
export interface LastOutcomes {
  /** null: none yet. */
  lastMs: number | null;
  /** In the minute of the last one, and in the minute before that. */
  inMinute: number;
  before: number;
}

const minuteMs = 60_000;
/** A running job without an outcome for so long stands still. */
const stalledMs = 60_000;
/** A job that has just begun is no rate yet. */
const leastMs = 5_000;

/** Rollouts in a minute, over the current one and the one before. */
export function paceOf(
  { lastMs, inMinute, before }: LastOutcomes,
  { startedMs, nowMs }: { startedMs: number; nowMs: number },
): number {
  if (lastMs === null) return 0;
  const age = Math.floor(nowMs / minuteMs) - Math.floor(lastMs / minuteMs);
  const counted = age <= 0 ? inMinute + before : age === 1 ? inMinute : 0;
  const from = Math.max(startedMs, (Math.floor(nowMs / minuteMs) - 1) * minuteMs);
  return (counted * minuteMs) / Math.max(leastMs, nowMs - from);
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
