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
  /** Frees the place while the work waits for something else, once that takes `longMs`. */
  pause(): void;
  /** Goes on, also where no place is free: the work is nearly done. */
  resume(): void;
  leave(): void;
}

export interface GateOptions {
  places: number;
  /** Length of the queue in a burst. */
  burst: number;
  /**
   * Its length once it has not been empty for `standingMs`, and for `calmMs` after a refusal: a
   * longer one would only add delay.
   */
  standing: number;
  standingMs?: number;
  calmMs?: number;
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
  const { places, burst, standing, standingMs = 100, calmMs = 5_000, longMs = 50 } = options;
  const { now = () => performance.now() } = options;
  let working = 0;
  const queue: ((place: Place) => void)[] = [];
  /** Since when the queue has not been empty; null: it is. */
  let waitingSince: number | null = null;
  let refusedAt = -Infinity;

  function isFull(): boolean {
    if (working < places && queue.length === 0) return false;
    const time = now();
    const isStanding = time - refusedAt < calmMs || (waitingSince !== null && time - waitingSince > standingMs);
    const isRefused = queue.length >= (isStanding ? standing : burst);
    if (isRefused) refusedAt = time;
    return isRefused;
  }

  function free(): void {
    working -= 1;
    while (working < places && queue.length > 0) queue.shift()!(take());
    if (queue.length === 0) waitingSince = null;
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
      waitingSince ??= now();
      return new Promise((resolve) => queue.push(resolve));
    },
  };
}

/** Leaves a place at the latest when the reply is closed. */
export function leaveAtEnd(place: Place, { raw }: FastifyReply): void {
  if (raw.destroyed) place.leave();
  else raw.once('close', () => place.leave());
}
