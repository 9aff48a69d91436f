import type { z } from 'zod';
import { mergedCounts, type Minute } from '../../core/health/state.js';
import { quantiles, type LatencyCounts } from '../../core/math/latency-sketch.js';
import type { healthSchema } from '../contract/health.js';

type Provider = z.output<typeof healthSchema>['providers'][number];
type Windows = Pick<Provider, 'last_minute' | 'last_15_minutes' | 'last_hour' | 'minutes'>;

/** The calls of a minute, and why some had no answer. */
export interface CountedMinute extends Minute {
  errors: Record<string, number>;
}

const minuteMs = 60_000;

/** Where the last hour begins, in milliseconds since 1970. */
export const hourBefore = (nowMs: number) => beginOf(nowMs, 60);
const beginOf = (nowMs: number, minutes: number) => (Math.floor(nowMs / minuteMs) - minutes) * minuteMs;

/** Counts over the last minute, quarter and hour, and by minute. */
export function windowsOf(all: readonly CountedMinute[], nowMs: number): Windows {
  const since = (minutes: number) => all.filter(({ startMs }) => startMs >= beginOf(nowMs, minutes));
  const hour = since(60);
  return {
    last_minute: totalsOf(since(1)),
    last_15_minutes: totalsOf(since(15)),
    last_hour: totalsOf(hour),
    minutes: hour.map((minute) => ({ start: new Date(minute.startMs).toISOString(), ...countsOf([minute]) })),
  };
}

function totalsOf(minutes: readonly CountedMinute[]): Windows['last_hour'] {
  const counts = countsOf(minutes);
  const failed = Object.values(counts.errors).reduce((sum, count) => sum + count, 0);
  return { ...counts, error_rate: counts.calls === 0 ? null : failed / counts.calls };
}

function countsOf(minutes: readonly CountedMinute[]) {
  const latencies: LatencyCounts = mergedCounts(minutes.map((minute) => minute.latencies));
  const [p50 = null, p95 = null] = quantiles(latencies, [0.5, 0.95]);
  return {
    calls: minutes.reduce((sum, { calls }) => sum + calls, 0),
    errors: mergedCounts(minutes.map(({ errors }) => errors)),
    throttled: minutes.reduce((sum, { throttled }) => sum + throttled, 0),
    p50_ms: p50,
    p95_ms: p95,
  };
}

/** The most frequent error of the last quarter of an hour; null: none. */
export function mainError(all: readonly CountedMinute[], nowMs: number): string | null {
  const errors = Object.entries(windowsOf(all, nowMs).last_15_minutes.errors);
  return errors.sort(([, a], [, b]) => b - a)[0]?.[0] ?? null;
}
