/** Commands on data sets. */
import { withService } from '../service/connect.js';
import { note, say, sayJson, table } from '../service/output.js';

/** Prints the newest data sets. */
export async function list({ limit, json = false }: { limit: number; json?: boolean }): Promise<void> {
  await withService(async (client) => {
    const { data } = await client.request('listDatasets', { query: { limit } });
    if (json) return sayJson(data);
    if (data.length === 0) return note('There are no data sets yet.');
    const rows = data.map((each) => [
      each.dataset_id,
      each.name ?? '',
      String(each.num_rows),
      each.columns.map(({ name }) => name).join(', '),
      String(each.jobs),
      each.created_at.slice(0, 19).replace('T', ' '),
    ]);
    say(table([['DATA SET', 'NAME', 'ROWS', 'COLUMNS', 'JOBS', 'CREATED (UTC)'], ...rows]));
  });
}

export async function rename(id: string, name: string): Promise<void> {
  await withService(async (client) => {
    const renamed = await client.datasets.rename(id, name);
    say(`${id} is named ${renamed.name}.`);
  });
}

export async function remove(id: string): Promise<void> {
  await withService(async (client) => {
    await client.datasets.delete(id);
    say(`${id} is deleted.`);
  });
}
