import { jobKinds, type JobKind } from '../jobs/kinds.js';

/** An ended job, as its webhook reports it. */
export interface EndedJob {
  jobId: string;
  /** An extended job ends more than once. */
  run: number;
  kind: JobKind;
  status: string;
  name: string | null;
  tags: string[];
  metadata: Record<string, unknown>;
  stoppedBy: string | null;
  error: { code: string; message: string } | null;
  completedAt: Date;
  /** The data of its last event. */
  results: Record<string, unknown> | null;
}

/** The body of a job's webhook: type, time and data, as Standard Webhooks recommends. */
export function webhookBody(job: EndedJob): string {
  const { jobId, kind, status, name, tags, metadata, stoppedBy, error, completedAt, results } = job;
  const { idField } = jobKinds[kind];
  return JSON.stringify({
    type: `${kind}.${status}`,
    timestamp: completedAt.toISOString(),
    data: {
      ...results,
      job_id: jobId,
      ...(idField && { [idField]: jobId }),
      kind,
      status,
      name,
      tags,
      metadata,
      stopped_by: stoppedBy,
      error: error?.message ?? null,
      code: error?.code ?? null,
    },
  });
}

/** The id of the webhook of a job's end, equal in all attempts. */
export function webhookId({ jobId, run }: Pick<EndedJob, 'jobId' | 'run'>): string {
  return run === 1 ? `msg_${jobId}` : `msg_${jobId}_${run}`;
}
