import { Context } from '@temporalio/activity';

const everyMs = 1_000;

/**
 * Runs `work` while it tells Temporal every second that its worker lives, so that after a kill the next try begins within
 * the heartbeat timeout. Gives up waiting as soon as the activity is cancelled; what was recorded until then is kept.
 */
export async function beating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), everyMs);
  try {
    return await Promise.race([work(), context.cancelled]);
  } finally {
    clearInterval(timer);
  }
}
