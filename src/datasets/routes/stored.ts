/** Stores rows as a data set, and shows one. */
import type { z } from 'zod';
import { requireRoomForBytes } from '../../jobs/routes/quota.js';
import { iso } from '../../jobs/routes/view.js';
import type { Db } from '../../platform/db/db.js';
import type { datasetSchema } from '../contract/dataset.js';
import { putDataset, readDataset, renameDataset, type Dataset } from '../store/datasets.js';
import type { Format } from './rows.js';
import { withUpload } from './upload.js';

/** Throws if a row is faulty, or the organization has no room. */
export function storeRows(
  db: Db,
  orgId: string,
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
  name?: string,
): Promise<{ dataset: Dataset; isNew: boolean }> {
  return withUpload(format, chunks, (upload) =>
    db.org(orgId, async (tx) => {
      const { dataset } = upload;
      if (!(await readDataset(tx, dataset.id))) await requireRoomForBytes(tx, orgId, dataset.bytes);
      const stored = await putDataset(tx, orgId, dataset, upload.batches());
      if (name === undefined || stored.dataset.name !== null) return stored;
      return { ...stored, dataset: (await renameDataset(tx, dataset.id, name)) ?? stored.dataset };
    }),
  );
}

export function datasetView({ id, createdAt, numRows, ...shown }: Dataset): z.infer<typeof datasetSchema> {
  const { name, columns, bytes, jobs } = shown;
  return { dataset_id: id, name, num_rows: numRows, columns, bytes, jobs, created_at: iso(createdAt) };
}
