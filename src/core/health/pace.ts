/** How fast a job goes on. */

/** What a job's record counts of its last outcomes; times in milliseconds since 1970. */
export interface LastOutcomes {
  /** null: none yet. */
  lastMs: number | null;
  /** In the minute of the last one, and in the minute before that. */
  inMinute: number;
  before: number;
}

export interface Pace {
  /** Over the current minute and the one before. */
  rolloutsPerMinute: number;
  /** null: nothing is to come, or nothing comes. */
  endsMs: number | null;
}

const minuteMs = 60_000;
/** A running job without an outcome for so long stands still. */
const stalledMs = 60_000;
/** A job that has just begun is no rate yet. */
const leastMs = 5_000;

/** `remaining`: rollouts until the end; null: unknown. */
export function paceOf(
  { lastMs, inMinute, before }: LastOutcomes,
  { startedMs, nowMs, remaining }: { startedMs: number; nowMs: number; remaining: number | null },
): Pace {
  if (lastMs === null) return { rolloutsPerMinute: 0, endsMs: null };
  const age = Math.floor(nowMs / minuteMs) - Math.floor(lastMs / minuteMs);
  const counted = age <= 0 ? inMinute + before : age === 1 ? inMinute : 0;
  const from = Math.max(startedMs, (Math.floor(nowMs / minuteMs) - 1) * minuteMs);
  const rolloutsPerMinute = (counted * minuteMs) / Math.max(leastMs, nowMs - from);
  const isKnown = remaining !== null && remaining > 0 && rolloutsPerMinute > 0;
  return { rolloutsPerMinute, endsMs: isKnown ? nowMs + (remaining / rolloutsPerMinute) * minuteMs : null };
}

/** Whether a running job has had no outcome for a minute. */
export function isStalled(lastMs: number | null, startedMs: number, nowMs: number): boolean {
  return nowMs - (lastMs ?? startedMs) >= stalledMs;
}
