/**
 * Attempts of an activity that ended with their worker, counted in its heartbeats: an attempt says
 * that it is lost until it has recorded something, ends by itself, or its worker shuts down. So a
 * deploy counts nothing, and work that ends its workers fails its job after three of them.
 */
import { Context } from '@temporalio/activity';
import { jobFailure } from './errors.js';

/** Losses in a row, without anything recorded between them, that fail the job. */
export const maxLosses = 3;
const heartbeatMs = 1_000;

interface Losses {
  /** The lost attempts before this one, and this one until it says otherwise. */
  lost: number;
}

export interface LossCount {
  /** Something is on record that a further attempt finds. */
  progressed(): void;
  /** Stops the heartbeats; the worker is not lost by this attempt. */
  end(): void;
}

/** Sends heartbeats until its end. Throws where too many workers were lost. */
export function countLosses(draining?: AbortSignal): LossCount {
  const context = Context.current();
  const before = (context.info.heartbeatDetails as Partial<Losses> | undefined)?.lost ?? 0;
  if (before >= maxLosses) {
    const message = `${before} workers in a row ended while they worked at the same place of this job. See the log of the worker; create the job again if the cause lies elsewhere.`;
    throw jobFailure('worker_lost', message, true);
  }
  let details: Losses = { lost: before + 1 };
  const say = (lost: number) => {
    details = { lost };
    context.heartbeat(details);
  };
  const keep = () => say(Math.min(before, details.lost));
  say(before + 1);
  const timer = setInterval(() => context.heartbeat(details), heartbeatMs).unref();
  if (draining?.aborted) keep();
  draining?.addEventListener('abort', keep);
  return {
    progressed() {
      if (details.lost > 0) say(0);
    },
    end() {
      clearInterval(timer);
      draining?.removeEventListener('abort', keep);
      keep();
    },
  };
}
