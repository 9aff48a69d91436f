/** The rows of a create: those of a stored data set, or its own, which are stored with the job. */
import { comparableJson, wordsOfJson } from '../../core/prompts/comparable-json.js';
import type { RowsRequest } from '../contract/rows.js';
import {
  digestRows,
  groupRows,
  keepDataset,
  putDataset,
  readColumn,
  readDataset,
  type NewDataset,
  type RowValue,
} from '../store/datasets.js';
import type { Tx } from '../../platform/db/db.js';
import { valueAt } from '../../contracts/validation.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { requireRoomForBytes } from '../../jobs/routes/quota.js';
import { pointerOf, refuse } from '../../platform/http/server/errors.js';
import { withUpload } from './upload.js';

/** Rows that checks read. */
export interface Rows {
  dataset: NewDataset;
  /** The values of a column in all rows. */
  column(name: string): Promise<RowValue[]>;
  /**
   * For each row a text that is equal for equal rows, or for values of a column that are equal but
   * for white space and Unicode form; `words`: but for case and marks of sentences, too.
   */
  digests(column: string | null, compared?: 'words'): Promise<string[]>;
  /** The values of a column in some rows, a limited number of bytes at a time. */
  values(name: string, rows: readonly number[]): AsyncIterable<RowValue[]>;
}

export interface RowSource extends Rows {
  /** Stores the rows, or keeps them from being deleted, in the transaction of their job. */
  keep(tx: Tx): Promise<void>;
}

/** Bytes of values that are read at a time. */
const maxBytes = 4_000_000;

/** Throws if the data set does not exist or a row is faulty. `path`: that of `wanted`. */
export async function rowSource(
  { db }: HttpDeps,
  orgId: string,
  wanted: RowsRequest,
  path: readonly string[],
): Promise<RowSource> {
  if (wanted.rows) return inlineRows(orgId, wanted.rows, pointerOf([...path, 'rows']));
  const id = wanted.dataset_id!;
  const message = 'must be a data set of this organization';
  const unknown = () => refuse.invalid([{ pointer: pointerOf([...path, 'dataset_id']), message }]);
  const dataset = await db.org(orgId, (tx) => readDataset(tx, id));
  if (!dataset) throw unknown();
  return {
    dataset,
    column: (name) => db.org(orgId, (tx) => readColumn(tx, id, name, null)),
    digests: (column, compared) => db.org(orgId, (tx) => digestRows(tx, id, column, compared)),
    async *values(name, rows) {
      const groups = await db.org(orgId, (tx) => groupRows(tx, id, name, rows, maxBytes));
      for (const group of groups) yield await db.org(orgId, (tx) => readColumn(tx, id, name, group));
    },
    async keep(tx) {
      if (!(await keepDataset(tx, id))) throw unknown();
    },
  };
}

async function inlineRows(
  orgId: string,
  rows: readonly Record<string, unknown>[],
  pointer: string,
): Promise<RowSource> {
  const lines = rows.map((row) => JSON.stringify(row));
  const dataset = await withUpload('jsonl', bytesOf(lines), (upload) => Promise.resolve(upload.dataset), pointer);
  return {
    ...rowsInMemory(dataset, rows),
    async keep(tx) {
      if (!(await readDataset(tx, dataset.id))) await requireRoomForBytes(tx, orgId, dataset.bytes);
      await putDataset(tx, orgId, dataset, [lines]);
    },
  };
}

export function rowsInMemory(dataset: NewDataset, rows: readonly Record<string, unknown>[]): Rows {
  const valueIn = (name: string, row: number) => ({ row, value: valueAt(rows[row], name) });
  return {
    dataset,
    column: (name) => Promise.resolve(rows.map((_, row) => valueIn(name, row))),
    digests(column, compared) {
      const textOf = compared === 'words' ? wordsOfJson : comparableJson;
      const digest = (row: Record<string, unknown>) =>
        column === null ? JSON.stringify(row) : textOf(JSON.stringify(valueAt(row, column)) ?? '');
      return Promise.resolve(rows.map(digest));
    },
    async *values(name, some) {
      yield some.filter((row) => row < rows.length).map((row) => valueIn(name, row));
    },
  };
}

async function* bytesOf(lines: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const line of lines) yield Buffer.from(`${line}\n`);
}
