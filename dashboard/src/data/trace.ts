import type { Trace } from '../../../src/client/index.js';
import { client } from './client.js';

/** A trace of a session, an evaluation or a graph job. */
export async function loadTrace(jobId: string, traceId: string, signal: AbortSignal): Promise<Trace> {
  const job = client.value.handle(jobId);
  if (!('trace' in job)) throw new Error(`${jobId} has no traces.`);
  return job.trace(traceId, { signal });
}
