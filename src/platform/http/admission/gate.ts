import type { FastifyReply } from 'fastify';
import { ApiError } from '../server/errors.js';

/** A concurrency limit with a queue; refuses what the queue cannot take. */
export interface Gate {
  /** Resolves with a permit once one is free. Rejects where the queue is full (503). */
  acquire(): Promise<Permit>;
  /** Whether `acquire` refuses now; true counts as a refusal. */
  refuses(): boolean;
}

/** The permit of one piece of work. */
export interface Permit {
  /** Releases the permit during a wait for something else. */
  pause(): void;
  /** Ends the wait. The work counts again, even beyond the limit: it is nearly done. */
  resume(): void;
  release(): void;
}

export interface GateOptions {
  permits: number;
  /** Length of the queue in a burst, and how many may come in one. */
  burst: number;
  /** A wait that is short. */
  shortWaitMs: number;
  /** The load lasts once no wait has been short for this time, and more came than a burst has. */
  burstMs: number;
  /** Under lasting load the queue holds what begins in this time. */
  lastingWaitMs: number;
  /** How long the load counts as lasting after a refusal: refused callers retry. */
  calmMs?: number;
  now?: () => number;
}

/** Code of a refusal for want of memory or of permits. */
export const overCapacity = 'over_capacity';

/** More work than the process can do. */
export function overloaded(): ApiError {
  const detail = 'The service has more requests of this kind than it can work on; repeat the request.';
  return new ApiError(503, overCapacity, detail);
}

/** The permit of work that no gate admits. */
export const ungated: Permit = { pause() {}, resume() {}, release() {} };

export function createGate(options: GateOptions): Gate {
  const { permits, burst, shortWaitMs, burstMs, lastingWaitMs, calmMs = 5_000 } = options;
  const { now = () => performance.now() } = options;
  let working = 0;
  const queue: { grant: (permit: Permit) => void; since: number }[] = [];
  let refusedAt = -Infinity;
  /** Since when no wait has been short. */
  let longSince: number | null = null;
  /** How many have waited since then. */
  let came = 0;
  const begun = createRate(now);

  function refuses(): boolean {
    if (working < permits && queue.length === 0) return false;
    const time = now();
    if (queue.length > 0) noteWait(queue[0]!.since);
    const isLong = longSince !== null && time - longSince > burstMs && came > burst;
    const lasts = time - refusedAt < calmMs || isLong;
    const rate = begun.perMs();
    const longest = lasts && rate !== null ? Math.min(burst, 1 + rate * lastingWaitMs) : burst;
    const isRefused = queue.length >= longest;
    if (isRefused) refusedAt = time;
    return isRefused;
  }

  function free(): void {
    working -= 1;
    while (working < permits && queue.length > 0) {
      const { grant, since } = queue.shift()!;
      noteWait(since);
      grant(take());
    }
    if (working < permits) noteShort();
  }

  function noteWait(since: number): void {
    const longFrom = since + shortWaitMs;
    if (now() <= longFrom) noteShort();
    else longSince ??= longFrom;
  }

  function noteShort(): void {
    longSince = null;
    came = queue.length;
  }

  function take(): Permit {
    working += 1;
    begun.count();
    let holds = true;
    let isReleased = false;
    const pause = () => {
      if (!holds) return;
      holds = false;
      free();
    };
    return {
      pause,
      resume() {
        if (holds || isReleased) return;
        holds = true;
        working += 1;
      },
      release() {
        isReleased = true;
        pause();
      },
    };
  }

  return {
    refuses,
    async acquire() {
      if (working < permits && queue.length === 0) return take();
      if (refuses()) throw overloaded();
      came += 1;
      return new Promise((grant) => queue.push({ grant, since: now() }));
    },
  };
}

const windowMs = 1_000;

/** How often something happens while it does, by the last full second; null: not known yet. */
function createRate(now: () => number) {
  let from = -Infinity;
  let count = 0;
  let perMs: number | null = null;
  return {
    count() {
      const time = now();
      const elapsed = time - from;
      count += 1;
      if (elapsed < windowMs) return;
      // Longer: nothing happened for a while.
      if (elapsed < 2 * windowMs) perMs = count / elapsed;
      from = time;
      count = 0;
    },
    perMs: () => perMs,
  };
}

/** Releases a permit at the latest when the reply is closed. */
export function releaseAtEnd(permit: Permit, { raw }: FastifyReply): void {
  if (raw.destroyed) permit.release();
  else raw.once('close', () => permit.release());
}
