import { client } from '../../../data/client.js';
import { useResource } from '../../../data/resource.js';
import type { Dataset } from './draft.js';
import type { DataRows } from './facts.js';

/** Rows and bytes that the form reads of a data set. */
const most = { rows: 1_000, bytes: 2_000_000 };

/** The first rows of a data set, as many as tell what it is like; undefined: not read yet. */
export function useRows(dataset: Dataset | undefined): DataRows | undefined {
  const { data } = useResource(`first rows ${dataset?.dataset_id ?? ''}`, async (signal) => {
    if (!dataset) return undefined;
    const limit = Math.max(20, Math.min(most.rows, Math.floor((most.bytes * dataset.num_rows) / dataset.bytes)));
    const path = { dataset_id: dataset.dataset_id };
    const page = await client.value.request('listDatasetRows', { path, query: { limit }, signal });
    return page.data.map((row) => row.data);
  });
  return data;
}
