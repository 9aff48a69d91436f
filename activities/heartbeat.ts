import { Context } from '@temporalio/activity';

const everyMs = 1_000;

/**
 * Does an activity's work with a heartbeat, so that it is begun anew soon after its worker was killed. Gives up waiting as
 * soon as the activity is cancelled.
 */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), everyMs);
  try {
    return await Promise.race([work(), context.cancelled]);
  } finally {
    clearInterval(timer);
  }
}
