import type { DatasetColumn } from '../contract/dataset.js';
import type { Tx } from '../../platform/db/db.js';
import { positionColumn, type Position } from '../../platform/db/positions.js';

export interface Dataset {
  id: string;
  numRows: number;
  /** Null: none. */
  name: string | null;
  columns: DatasetColumn[];
  bytes: number;
  createdAt: Date;
  /** Its runs as lists show them, at most `mostJobs`. */
  jobs: number;
}

export type NewDataset = Pick<Dataset, 'id' | 'numRows' | 'columns' | 'bytes'>;

/** The most jobs of a data set that are counted, or named. */
const mostJobs = 1_000;

const columns = `id, name, num_rows as "numRows", columns, bytes, created_at as "createdAt",
  (select count(*) from (
     select 1 from jobs j
      where j.dataset_id = datasets.id and j.kind in ('session', 'evaluation', 'graph')
        and j.parent_id is null and not j.archived and not j.deleted
      limit ${mostJobs}) used)::int as jobs`;

/** The name of the data set of a job, as SQL. */
export const datasetNameOf = (job: string): string =>
  `(select name from datasets where org_id = ${job}.org_id and id = ${job}.dataset_id)`;

/**
 * Stores a data set unless it exists, and keeps it to the end of the transaction. `batches`: its
 * rows in their order, each as JSON.
 */
export async function putDataset(
  tx: Tx,
  orgId: string,
  dataset: NewDataset,
  batches: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
): Promise<{ dataset: Dataset; isNew: boolean }> {
  const { id, numRows, columns: named, bytes } = dataset;
  for (;;) {
    const [created] = await tx.query(
      `insert into datasets (org_id, id, num_rows, columns, bytes) values ($1, $2, $3, $4, $5)
       on conflict do nothing returning id`,
      // Not toJsonb: HTTP has refused values that Postgres cannot store.
      [orgId, id, numRows, JSON.stringify(named), bytes],
    );
    if (created) await insertRows(tx, orgId, id, batches);
    const kept = await keepDataset(tx, id);
    if (kept) return { dataset: kept, isNew: created !== undefined };
    // The existing one was deleted in between.
  }
}

async function insertRows(
  tx: Tx,
  orgId: string,
  id: string,
  batches: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
): Promise<void> {
  let from = 0;
  for await (const rows of batches) {
    await tx.query(
      `insert into dataset_rows (org_id, dataset_id, row_index, data)
       select $1, $2, $3 + position - 1, data from json_array_elements($4::json) with ordinality as t(data, position)`,
      [orgId, id, from, `[${rows.join(',')}]`],
      'insert_dataset_rows',
    );
    from += rows.length;
  }
}

/** Reads a data set and keeps it from being deleted during the transaction. Null: there is none. */
export async function keepDataset(tx: Tx, id: string): Promise<Dataset | null> {
  const [row] = await tx.query<Dataset & Record<string, unknown>>(
    `select ${columns} from datasets where id = $1 for key share`,
    [id],
    'keep_dataset',
  );
  return row ?? null;
}

/** Null: the organization has no such data set. */
export async function readDataset(tx: Tx, id: string): Promise<Dataset | null> {
  const [row] = await tx.query<Dataset & Record<string, unknown>>(
    `select ${columns} from datasets where id = $1`,
    [id],
    'read_dataset',
  );
  return row ?? null;
}

/** Names a data set; null: without a name. Null: the organization has no such data set. */
export async function renameDataset(tx: Tx, id: string, name: string | null): Promise<Dataset | null> {
  const [row] = await tx.query<Dataset & Record<string, unknown>>(
    `update datasets set name = $2 where id = $1 returning ${columns}`,
    [id, name],
  );
  return row ?? null;
}

/** The newest data sets, after one of them. */
export async function listDatasets(
  tx: Tx,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<(Dataset & { position: string })[]> {
  return tx.query<Dataset & { position: string } & Record<string, unknown>>(
    `select ${columns}, ${positionColumn}
       from datasets where $1::timestamptz is null or (created_at, id) < ($1, $2)
      order by created_at desc, id desc limit $3`,
    [after?.createdAt ?? null, after?.id ?? null, limit],
  );
}

/** Rows with an index above `after`, in their order. */
export async function listDatasetRows(
  tx: Tx,
  id: string,
  { after, limit }: { after: number; limit: number },
): Promise<{ row: number; data: Record<string, unknown> }[]> {
  return tx.query(
    `select row_index as row, data from dataset_rows where dataset_id = $1 and row_index > $2 order by row_index limit $3`,
    [id, after, limit],
    'list_dataset_rows',
  );
}

/** Jobs of a data set that a refusal names. */
const mostNamed = 20;

/** Deletes a data set unless jobs run its rows: then the newest of them. */
export async function deleteDataset(tx: Tx, id: string): Promise<{ usedBy: string[] } | null> {
  // A create that names it now waits for this lock.
  await tx.query('select id from datasets where id = $1 for update', [id]);
  const jobs = await tx.query<{ id: string }>(
    'select id from jobs where dataset_id = $1 or traffic_id = $1 order by created_at desc limit $2',
    [id, mostNamed],
  );
  if (jobs.length > 0) return { usedBy: jobs.map((job) => job.id) };
  await tx.query('delete from datasets where id = $1', [id]);
  return null;
}

/** A row; null: the data set is gone. */
export async function readDatasetRow(tx: Tx, id: string, row: number): Promise<Record<string, unknown> | null> {
  const [found] = await tx.query<{ data: Record<string, unknown> }>(
    'select data from dataset_rows where dataset_id = $1 and row_index = $2',
    [id, row],
    'read_dataset_row',
  );
  return found?.data ?? null;
}

/** Groups rows in their order: the values of a column in a group have `maxBytes`, or are one. */
export async function groupRows(
  tx: Tx,
  id: string,
  column: string,
  rows: readonly number[],
  maxBytes: number,
): Promise<number[][]> {
  const sizes = await tx.query<{ row: number; bytes: number }>(
    `select row_index as row, coalesce(octet_length((data->$2)::text), 0) as bytes
       from dataset_rows where dataset_id = $1 and row_index = any($3) order by row_index`,
    [id, column, rows],
    'size_dataset_column',
  );
  const groups: number[][] = [];
  let left = 0;
  for (const { row, bytes } of sizes) {
    if (groups.length === 0 || bytes > left) {
      groups.push([]);
      left = maxBytes;
    }
    groups.at(-1)!.push(row);
    left -= bytes;
  }
  return groups;
}

/** SQL of `core/prompts/comparable-json`: `comparableJson` and `wordsOfJson` of the column $2. */
const comparable = String.raw`regexp_replace(
    regexp_replace(normalize((data->$2)::text, NFC), '(\\[nrt]|\s)+', ' ', 'g'), ' ?" ?', '"', 'g')`;
const words = String.raw`btrim(regexp_replace(lower(normalize((data->$2)::text, NFKC)),
    '(\\[nrt"]|[\s.,;:!?''"()\[\]{}${'`'}])+', ' ', 'g'))`;
const comparedParts = { value: comparable, words };

/**
 * For each row a hash of its data, or of its value of a column (empty: none) or the words of it, in
 * their order.
 */
export async function digestRows(
  tx: Tx,
  id: string,
  column: string | null,
  compared: keyof typeof comparedParts = 'value',
): Promise<string[]> {
  const part = column === null ? 'data::text' : comparedParts[compared];
  const rows = await tx.query<{ digest: string }>(
    `select coalesce(encode(sha256(convert_to(${part}, 'UTF8')), 'base64'), '') as digest
       from dataset_rows where dataset_id = $1 order by row_index`,
    column === null ? [id] : [id, column],
    column === null ? 'digest_dataset_rows' : `digest_dataset_${compared}`,
  );
  return rows.map(({ digest }) => digest);
}

/** A value of a column; undefined: the row has none. */
export interface RowValue {
  row: number;
  value: unknown;
}

/** The values of a column in some rows, or all, in their order. */
export async function readColumn(
  tx: Tx,
  id: string,
  column: string,
  rows: readonly number[] | null,
): Promise<RowValue[]> {
  const found = await tx.query<{ row: number; value: { value?: unknown } }>(
    `select row_index as row, case when data->$2 is not null then json_build_object('value', data->$2) else '{}' end as value
       from dataset_rows where dataset_id = $1 and ($3::int[] is null or row_index = any($3)) order by row_index`,
    [id, column, rows],
    'read_dataset_column',
  );
  return found.map(({ row, value }) => ({ row, value: value.value }));
}
