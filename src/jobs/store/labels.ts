import type { Labels, Marks } from '../../contracts/labels.js';
import type { Tx } from '../../platform/db/db.js';
import { toJsonb } from '../../platform/db/json.js';

/** The labels by which lists find a job: its tags, and its metadata as `key=value`. */
export function labelKeys({ tags, metadata }: Pick<Labels, 'tags' | 'metadata'>): string[] {
  const pairs = Object.entries(metadata).map(
    ([key, value]) => `metadata ${JSON.stringify(key)}=${JSON.stringify(value)}`,
  );
  return [...tags.map((tag) => `tag ${tag}`), ...pairs];
}

/** SQL of a label in `job_labels`: long ones by their hash, since an index entry is short. */
export const storedLabel = (label: string) => `case when length(${label}) > 200 then md5(${label}) else ${label} end`;

/** Stores the labels of a job, which has none. */
export async function insertLabels(tx: Tx, jobId: string, labels: Pick<Labels, 'tags' | 'metadata'>): Promise<void> {
  const keys = labelKeys(labels);
  if (keys.length === 0) return;
  await tx.query(
    `insert into job_labels (job_id, org_id, kind, created_at, label)
     select distinct j.id, j.org_id, j.kind, j.created_at, ${storedLabel('l')}
       from jobs j, unnest($2::text[]) l where j.id = $1`,
    [jobId, keys],
  );
}

/** Replaces the given labels of a job, archives or restores it; absent fields stay. */
export async function updateMarks(
  tx: Tx,
  jobId: string,
  { name, tags, metadata, notes, archived }: Partial<Marks>,
): Promise<void> {
  const [row] = await tx.query<Pick<Labels, 'tags' | 'metadata'>>(
    `update jobs set name = case when $2 then $3 else name end, tags = coalesce($4, tags),
       metadata = coalesce($5, metadata), notes = case when $6 then $7 else notes end, archived = coalesce($8, archived)
     where id = $1 returning tags, metadata`,
    [
      jobId,
      name !== undefined,
      name ?? null,
      tags ?? null,
      metadata === undefined ? null : toJsonb(metadata),
      notes !== undefined,
      notes ?? null,
      archived ?? null,
    ],
  );
  if (!row || (tags === undefined && metadata === undefined)) return;
  await tx.query('delete from job_labels where job_id = $1', [jobId]);
  await insertLabels(tx, jobId, row);
}
