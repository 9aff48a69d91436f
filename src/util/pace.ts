import { ExpiringMap } from './expiring-map.js';

/** Requests of a network in a second, and how many may come at once. */
const perSecond = 100;
const burst = 100;
/** A request that would wait for longer is refused. */
const longestWaitMs = 1_000;
const remembered = 10_000;
const intervalMs = 1_000 / perSecond;

/**
 * Milliseconds that a request of a network waits for its turn; null: too many wait. A refusal alone
 * would be answered at once by another request, which costs as much.
 */
export function createPace(now: () => number = () => performance.now()): (network: string) => number | null {
  /** When the turn after the last one comes. */
  const next = new ExpiringMap<string, number>(remembered, longestWaitMs + intervalMs * burst);
  return (network) => {
    const time = now();
    const turn = Math.max(next.get(network) ?? -Infinity, time - (burst - 1) * intervalMs);
    const waitMs = turn - time;
    if (waitMs > longestWaitMs) return null;
    next.set(network, turn + intervalMs);
    return Math.max(0, waitMs);
  };
}
