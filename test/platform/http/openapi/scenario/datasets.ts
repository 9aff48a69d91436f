import type { Recorder } from '../recorder.js';
import { rows } from './world.js';

const uploads = rows.slice(0, 2);

/** Uploads a data set in each format, reads it and deletes it. */
export async function playDatasets(api: Recorder): Promise<void> {
  const lines = uploads.map((row) => `${JSON.stringify(row)}\n`).join('');
  const csv = ['input,expected', ...uploads.map(({ input, expected }) => `${input},${expected}`), ''].join('\n');
  const { dataset_id } = await api.call<{ dataset_id: string }>('uploadDataset', { body: uploads });
  for (const [type, body] of [
    ['text/csv', csv],
    ['application/x-ndjson', lines],
    ['application/jsonl', lines],
  ] as const)
    await api.call('uploadDataset', { type, body });
  const path = { dataset_id };
  await api.call('listDatasets');
  await api.call('getDataset', { path });
  await api.call('listDatasetRows', { path });
  await api.call('renameDataset', { path, body: { name: 'Orders of June' } });
  await api.call('deleteDataset', { path });
}
