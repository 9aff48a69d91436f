import type { FastifyReply } from 'fastify';
import { ApiError } from '../server/errors.js';

/** Work that a process does at a time; what comes beyond waits in a queue, or is refused. */
export interface Gate {
  /** Resolves with a place once one is free. Rejects where the queue is full (503). */
  enter(): Promise<Place>;
  /** Whether `enter` would refuse now. */
  isFull(): boolean;
}

/** The place of one piece of work. */
export interface Place {
  /** Frees the place while the work waits for something else, if that takes long. */
  pause(): void;
  /** Goes on, also where no place is free: the work is nearly done. */
  resume(): void;
  leave(): void;
}

export interface GateOptions {
  places: number;
  /** Length of the queue in a burst. */
  burst: number;
  /** Once work has waited for so long, more comes than is done: the load lasts. */
  burstWaitMs: number;
  /** Then the queue is only as long as is worked off in this time. */
  lastingWaitMs: number;
  /** How long the load counts as lasting after a refusal: callers who were refused come back. */
  calmMs?: number;
  /** A pause for longer than this frees the place. */
  longMs?: number;
  now?: () => number;
}

/** Code of a refusal for want of memory or of places. */
export const overCapacity = 'over_capacity';

/** More work than the process can do. */
export function overloaded(): ApiError {
  const detail = 'The service has more requests of this kind than it can work on; repeat the request.';
  return new ApiError(503, overCapacity, detail);
}

/** The place of work that no gate admits. */
export const anywhere: Place = { pause() {}, resume() {}, leave() {} };

export function createGate(options: GateOptions): Gate {
  const { places, burst, burstWaitMs, lastingWaitMs, calmMs = 5_000, longMs = 50 } = options;
  const { now = () => performance.now() } = options;
  let working = 0;
  const queue: { enter: (place: Place) => void; since: number }[] = [];
  let refusedAt = -Infinity;
  const left = createRate(now);

  function isFull(): boolean {
    if (working < places && queue.length === 0) return false;
    const time = now();
    const lasts = time - refusedAt < calmMs || time - (queue[0]?.since ?? time) > burstWaitMs;
    const worked = left.perMs();
    const longest = lasts && worked !== null ? Math.min(burst, 1 + worked * lastingWaitMs) : burst;
    const isRefused = queue.length >= longest;
    if (isRefused) refusedAt = time;
    return isRefused;
  }

  function free(): void {
    working -= 1;
    left.count();
    while (working < places && queue.length > 0) queue.shift()!.enter(take());
  }

  function take(): Place {
    working += 1;
    let holds = true;
    let hasLeft = false;
    let timer: NodeJS.Timeout | undefined;
    const giveUp = () => {
      if (!holds) return;
      holds = false;
      free();
    };
    return {
      pause() {
        if (!hasLeft) timer ??= setTimeout(giveUp, longMs);
      },
      resume() {
        clearTimeout(timer);
        timer = undefined;
        if (holds || hasLeft) return;
        holds = true;
        working += 1;
      },
      leave() {
        hasLeft = true;
        clearTimeout(timer);
        giveUp();
      },
    };
  }

  return {
    isFull,
    async enter() {
      if (working < places && queue.length === 0) return take();
      if (isFull()) throw overloaded();
      return new Promise((enter) => queue.push({ enter, since: now() }));
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

/** Leaves a place at the latest when the reply is closed. */
export function leaveAtEnd(place: Place, { raw }: FastifyReply): void {
  if (raw.destroyed) place.leave();
  else raw.once('close', () => place.leave());
}
