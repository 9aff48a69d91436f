import { Context } from '@temporalio/activity';

const intervalMs = 1_000;

/** Runs work with heartbeats (a killed worker is noticed soon). Rejects once it is cancelled. */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), intervalMs);
  try {
    return await Promise.race([work(), context.cancelled]);
  } finally {
    clearInterval(timer);
  }
}
