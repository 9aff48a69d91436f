import { metadataSchema, type Labels, type Marks } from '../../contracts/labels.js';
import type { JobRef } from '../store/events.js';
import { updateMarks } from '../store/labels.js';
import type { HttpDeps } from '../../platform/http/deps.js';

/** The fields of a request with labels. */
export interface LabelRequest {
  name?: string | null | undefined;
  tags?: string[] | null | undefined;
  metadata?: unknown;
  notes?: string | null | undefined;
}

const notKept =
  'metadata was not kept: it must be a flat object of strings, numbers and booleans, at most 4,096 bytes of JSON.';

/**
 * The labels of a create, each tag once. Metadata that only the existing client's form accepts is
 * not kept, with a warning.
 */
export function labelsOf({ name, tags, metadata, notes }: LabelRequest): { labels: Labels; warnings: string[] } {
  const kept = metadataSchema.safeParse(metadata ?? {});
  return {
    labels: { name: name ?? null, tags: [...new Set(tags)], metadata: kept.data ?? {}, notes: notes ?? null },
    warnings: kept.success ? [] : [notKept],
  };
}

/** Replaces the labels that a request names, archives or restores; null removes a label. */
export async function mark(
  { db, commander, log }: Pick<HttpDeps, 'db' | 'commander' | 'log'>,
  job: JobRef & { workflowId: string },
  { archived, ...request }: LabelRequest & { archived?: boolean | undefined },
): Promise<void> {
  const { labels } = labelsOf(request);
  const named = Object.entries(labels).filter(([field]) => request[field as keyof Labels] !== undefined);
  const marks: Partial<Marks> = { ...Object.fromEntries(named), ...(archived !== undefined && { archived }) };
  await db.org(job.orgId, (tx) => updateMarks(tx, job.jobId, marks));
  const { name, tags, metadata } = marks;
  if (name === undefined && tags === undefined && metadata === undefined) return;
  await commander.relabel(job).catch((err: unknown) => {
    log.warn({ err, job_id: job.jobId }, 'Temporal still shows the old labels, until the next slice of work');
  });
}
