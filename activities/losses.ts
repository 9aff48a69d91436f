/**
 * Attempts of an activity that ended with their worker, counted in its heartbeats: an attempt says
 * that it is lost until it ends by itself or its worker shuts down. So a deploy counts nothing, and
 * work that ends its workers fails its job after three of them.
 */
import { Context } from '@temporalio/activity';
import { jobFailure } from './errors.js';

/** Losses in a row, without anything recorded between them, that fail the job. */
export const maxLosses = 3;
/** Each is a write of Temporal; a cancellation arrives with its answer. */
const heartbeatMs = 4_000;

interface Losses {
  /** The lost attempts before this one, and this one until it says otherwise. */
  lost: number;
  /** The record when they began; another one means that work went on. */
  record: number;
}

export interface LossCount {
  /** Stops the heartbeats; the worker is not lost by this attempt. */
  end(): void;
}

/**
 * Sends heartbeats until its end. `record` grows with everything on record that a further attempt
 * finds; 0: nothing is recorded before the end. `describe`: what operators read in a heartbeat.
 * Throws where too many workers were lost.
 */
export function countLosses(record = 0, draining?: AbortSignal, describe: () => object = () => ({})): LossCount {
  const context = Context.current();
  const earlier = context.info.heartbeatDetails as Losses | undefined;
  const before = earlier?.record === record ? earlier.lost : 0;
  if (before >= maxLosses) {
    const message = `${before} workers in a row ended while they worked at the same place of this job. See the log of the worker; create the job again if the cause lies elsewhere.`;
    throw jobFailure('worker_lost', message, true);
  }
  let losses: Losses;
  const beat = () => context.heartbeat({ ...losses, ...describe() });
  const say = (lost: number) => {
    losses = { lost, record };
    beat();
  };
  const keep = () => say(before);
  say(before + 1);
  const timer = setInterval(beat, heartbeatMs).unref();
  if (draining?.aborted) keep();
  draining?.addEventListener('abort', keep);
  return {
    end() {
      clearInterval(timer);
      draining?.removeEventListener('abort', keep);
      keep();
    },
  };
}
