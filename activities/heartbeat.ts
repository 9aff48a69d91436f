import { Context } from '@temporalio/activity';
import { countLosses } from './losses.js';
import type { Watch } from './watch/watch.js';

/**
 * Runs work with heartbeats (a killed worker is noticed soon). Rejects once it is cancelled, or
 * stands still.
 */
export async function withHeartbeat<T>(work: () => Promise<T>, watch: Watch): Promise<T> {
  const losses = countLosses(0, undefined, () => watch.details);
  try {
    return await Promise.race([watch.run(work), Context.current().cancelled]);
  } finally {
    losses.end();
  }
}
