/** How a provider or a deployment does, from its calls by minute. */
import { quantiles, type LatencyCounts } from '../math/latency-sketch.js';

/** From well to worst. */
export const healthStates = ['ok', 'slow', 'throttled', 'failing'] as const;
export type HealthState = (typeof healthStates)[number];

/** The calls of a minute. */
export interface Minute {
  /** Where it begins, in milliseconds since 1970. */
  startMs: number;
  calls: number;
  /** Calls that the called one refused as too many. */
  throttled: number;
  /** Calls that failed through no fault of the request. */
  failed: number;
  /** The largest share of the minute's calls so far that these were; see `peakOf`. */
  throttledPeak: number;
  failedPeak: number;
  /** Of answered calls. */
  latencies: LatencyCounts;
  /** The first throttled or failed call, in milliseconds since 1970; null: none. */
  troubledMs: number | null;
}

export interface Health {
  state: HealthState;
  /** Milliseconds since 1970; null: as far back as the minutes go. */
  sinceMs: number | null;
}

/** The latest minutes count until they have so many calls, or are so old. */
const recentCalls = 20;
const recentMs = 5 * 60_000;
/** After so long without a call nothing is known of the called one. */
export const forgottenMs = 15 * 60_000;

/** A share of calls that begins a state, with so many of them, and one below which it ends. */
const shares = { failing: { enter: 0.2, leave: 0.1 }, throttled: { enter: 0.1, leave: 0.05 } } as const;
const leastBad = 3;

/** Times the usual median, and milliseconds above it. */
const slowness = { enter: { times: 3, plusMs: 1_000 }, leave: { times: 1.5, plusMs: 500 } } as const;
const leastAnswered = { recent: 5, usual: 20 };
/** Well minutes whose median is usual. */
const usualMinutes = 15;

/** A share of a minute's calls so far, from the 20th: what began in a minute lasts to its end. */
export function peakOf(bad: number, calls: number): number {
  return calls >= recentCalls && bad >= leastBad ? bad / calls : 0;
}

/**
 * The state after minutes in the order of time. A state begins at a larger share than the one below
 * which it ends, so that it does not flap.
 */
export function healthOf(minutes: readonly Minute[], nowMs: number): Health {
  let health: Health = { state: 'ok', sinceMs: null };
  let well: Minute[] = [];
  let before = -Infinity;
  for (const [index, minute] of minutes.entries()) {
    if (minute.startMs - before > forgottenMs) health = { state: 'ok', sinceMs: null };
    before = minute.startMs;
    const recent = recentOf(minutes, index);
    const state = stateOf(recent, medianOf(well, leastAnswered.usual), health.state);
    if (state !== health.state) health = { state, sinceMs: beginOf(state, health.state, recent, minute) };
    if (state === 'ok') well = [...well, minute].slice(-usualMinutes);
  }
  return nowMs - before > forgottenMs ? { state: 'ok', sinceMs: null } : health;
}

function recentOf(minutes: readonly Minute[], last: number): Minute[] {
  const recent: Minute[] = [];
  for (let at = last, calls = 0; at >= 0 && calls < recentCalls; at -= 1) {
    const minute = minutes[at]!;
    if (minutes[last]!.startMs - minute.startMs >= recentMs) break;
    recent.unshift(minute);
    calls += minute.calls;
  }
  return recent;
}

function stateOf(recent: readonly Minute[], usualMs: number | null, current: HealthState): HealthState {
  const total = (field: 'calls' | 'throttled' | 'failed') => recent.reduce((sum, minute) => sum + minute[field], 0);
  const calls = total('calls');
  const { throttledPeak, failedPeak } = recent.at(-1)!;
  const holds = (state: keyof typeof shares, bad: number, peak: number) =>
    peak >= shares[state].enter ||
    (current === state
      ? bad > 0 && bad >= shares[state].leave * calls
      : bad >= leastBad && bad >= shares[state].enter * calls);
  if (holds('failing', total('failed'), failedPeak)) return 'failing';
  if (holds('throttled', total('throttled'), throttledPeak)) return 'throttled';
  return isSlow(medianOf(recent, leastAnswered.recent), usualMs, current === 'slow') ? 'slow' : 'ok';
}

function isSlow(recentMs: number | null, usualMs: number | null, isAlready: boolean): boolean {
  if (recentMs === null || usualMs === null) return isAlready;
  const { times, plusMs } = isAlready ? slowness.leave : slowness.enter;
  return recentMs >= times * usualMs && recentMs >= usualMs + plusMs;
}

/** Null: of too few answers. */
function medianOf(minutes: readonly Minute[], least: number): number | null {
  const latencies = mergedCounts(minutes.map((minute) => minute.latencies));
  const answered = Object.values(latencies).reduce((sum, count) => sum + count, 0);
  return answered < least ? null : quantiles(latencies, [0.5])[0]!;
}

export function mergedCounts(all: readonly LatencyCounts[]): LatencyCounts {
  const merged: LatencyCounts = {};
  for (const counts of all)
    for (const [bucket, count] of Object.entries(counts)) merged[bucket] = (merged[bucket] ?? 0) + count;
  return merged;
}

/** A trouble begins with its first bad call. */
function beginOf(state: HealthState, before: HealthState, recent: readonly Minute[], minute: Minute): number {
  if (state !== 'failing' && state !== 'throttled') return minute.startMs;
  if (before !== 'ok') return minute.troubledMs ?? minute.startMs;
  return recent.find(({ troubledMs }) => troubledMs !== null)?.troubledMs ?? minute.startMs;
}
