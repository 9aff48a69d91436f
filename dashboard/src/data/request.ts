/** The request of a run, and runs that are made from it. */
import type { Answer, DryRun } from '../../../src/client/index.js';
import { client } from './client.js';
import { kindOfRun, type RunKind } from './kinds.js';

export type JobRequest = Answer<'getSessionRequest'>;

/** The request of a run; with a candidate, that of a branch. */
export async function readRequest(
  jobId: string,
  candidateId: string | null,
  signal?: AbortSignal,
): Promise<JobRequest> {
  const query = candidateId === null ? {} : { candidate_id: candidateId };
  const options = { ...(signal && { signal }) };
  switch (kindOfRun(jobId)) {
    case 'session':
      return client.value.sessions.handle(jobId).request(query, options);
    case 'graph':
      return client.value.graphs.handle(jobId).request(query, options);
    case 'evaluation':
      return client.value.evaluations.handle(jobId).request(undefined, options);
  }
}

/** A clone of a run. */
export interface Clone {
  jobId: string;
  candidateId: string | null;
  patch: Record<string, unknown>;
}

const operations = {
  session: 'cloneSession',
  graph: 'cloneGraphJob',
  evaluation: 'cloneEvaluation',
} as const satisfies Record<RunKind, string>;

function send({ jobId, candidateId, patch }: Clone, isDry: boolean, signal?: AbortSignal) {
  const query = {
    ...(candidateId !== null && { candidate_id: candidateId }),
    ...(isDry && { dry_run: 'true' as const }),
  };
  const args = { path: { session_id: jobId, job_id: jobId }, query, body: patch, ...(signal && { signal }) };
  return client.value.request(operations[kindOfRun(jobId)], args as never) as Promise<object>;
}

export async function startClone(clone: Clone): Promise<string> {
  const { job_id: id } = (await send(clone, false)) as { job_id: string };
  return id;
}

/** What a clone would answer, without a run. */
export const estimateClone = (clone: Clone, signal: AbortSignal): Promise<DryRun> =>
  send(clone, true, signal) as Promise<DryRun>;
