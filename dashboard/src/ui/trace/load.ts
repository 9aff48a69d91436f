import { client } from '../../data/client.js';
import { kindOfRun, kinds } from '../../data/kinds.js';
import type { Trace } from './types.js';

export function loadTrace(jobId: string, traceId: string, signal: AbortSignal): Promise<Trace> {
  const path = { session_id: jobId, job_id: jobId, trace_id: traceId };
  return client.value.request(kinds[kindOfRun(jobId)].trace, { path, signal });
}
