import type { FastifyReply } from 'fastify';
import type { ControlAnswer } from '../../contracts/control.js';
import { metadataSchema, type Labels } from '../../contracts/labels.js';
import type { JobRow } from '../../storage/jobs/jobs.js';
import { updateLabels } from '../../storage/jobs/labels.js';
import type { HttpDeps } from '../deps.js';
import { idFields } from './view.js';

/** The fields of a request with labels. */
interface LabelRequest {
  name?: string | null | undefined;
  tags?: string[] | null | undefined;
  metadata?: unknown;
}

const notKept =
  'metadata was not kept: it must be a flat object of strings, numbers and booleans, at most 4,096 bytes of JSON.';

/**
 * The labels of a create, each tag once. Metadata that only the existing client's form accepts is
 * not kept, with a warning.
 */
export function labelsOf({ name, tags, metadata }: LabelRequest): { labels: Labels; warnings: string[] } {
  const kept = metadataSchema.safeParse(metadata ?? {});
  return {
    labels: { name: name ?? null, tags: [...new Set(tags)], metadata: kept.data ?? {} },
    warnings: kept.success ? [] : [notKept],
  };
}

/** Replaces the labels that a request names; null removes them. */
export async function relabel(
  deps: HttpDeps,
  reply: FastifyReply,
  job: JobRow,
  request: LabelRequest,
): Promise<FastifyReply> {
  const { labels } = labelsOf(request);
  const given = Object.entries(labels).filter(([field]) => request[field as keyof Labels] !== undefined);
  await deps.db.org(job.orgId, (tx) => updateLabels(tx, job.jobId, Object.fromEntries(given)));
  return reply.send({ ...idFields(job.jobId), status: job.status } satisfies ControlAnswer);
}
