import { client } from '../../data/client.js';
import type { Trace } from './types.js';

/** A trace of a session, an evaluation or a graph job; the id of the job names its kind. */
export function loadTrace(jobId: string, traceId: string, signal: AbortSignal): Promise<Trace> {
  const path = { session_id: jobId, job_id: jobId, trace_id: traceId };
  if (jobId.startsWith('evl_')) return client.value.request('getEvaluationTrace', { path, signal });
  if (jobId.startsWith('grf_')) return client.value.request('getGraphJobTrace', { path, signal });
  return client.value.request('getSessionTrace', { path, signal });
}
