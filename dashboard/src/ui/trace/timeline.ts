import type { Call, Trace } from './types.js';

export interface Bar {
  id: string;
  label: string;
  /** From the start of the rollout. */
  startMs: number;
  ms: number;
}

export interface Timeline {
  totalMs: number;
  bars: Bar[];
}

type Timed = Pick<Trace, 'started_at' | 'completed_at'> & { calls: Call[] };

/** When each model call ran. A call is on record at its end, so it began its latency earlier. */
export function timelineOf({ started_at, completed_at, calls }: Timed): Timeline {
  const timed = calls.map((call) => {
    const end = Date.parse(call.created_at);
    return { call, start: end - (call.latency_ms ?? 0), end };
  });
  const starts = timed.map(({ start }) => start);
  const ends = timed.map(({ end }) => end);
  const from = Math.min(...starts, ...(started_at === null ? [] : [Date.parse(started_at)]));
  const to = Math.max(...ends, ...(completed_at === null ? [] : [Date.parse(completed_at)]));
  return {
    totalMs: Number.isFinite(to - from) ? Math.max(0, to - from) : 0,
    bars: timed.map(({ call, start, end }, index) => ({
      id: call.call_id,
      label: `${index + 1} ${call.step ?? call.model}`,
      startMs: start - from,
      ms: end - start,
    })),
  };
}
