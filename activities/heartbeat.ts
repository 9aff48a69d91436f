import { Context } from '@temporalio/activity';
import { countLosses } from './losses.js';

/** Runs work with heartbeats (a killed worker is noticed soon). Rejects once it is cancelled. */
export async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
  const losses = countLosses();
  try {
    return await Promise.race([work(), Context.current().cancelled]);
  } finally {
    losses.end();
  }
}
