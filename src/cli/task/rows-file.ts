/** The rows of a task's file, checked as the service checks an upload. */
import { ConfigError } from '../../service/config.js';
import { readRows, type Format } from '../../datasets/routes/rows.js';
import { rowsInMemory, type Rows } from '../../datasets/routes/row-source.js';
import { withUpload } from '../../datasets/routes/upload.js';
import { ApiError } from '../../platform/http/server/errors.js';
import { formatOf, openData } from './data-file.js';
import type { Files } from './files.js';

/** Rows with the place of each in its file. */
export interface FileRows extends Rows {
  rowAt(row: number): Record<string, unknown>;
  /** `rows.jsonl:3`. */
  placeOf(row: number): Promise<string>;
}

/** Throws a ConfigError that names the faulty lines. */
export async function readRowsFile(path: string, files: Files): Promise<FileRows> {
  const { format } = formatOf(path);
  return readUpload(format, await openData(path, files), path, async (row) => {
    let at = 0;
    for await (const { line } of readRows(format, await openData(path, files))) {
      if (at === row) return `${path}:${line}`;
      at += 1;
    }
    throw new Error(`${path} has no row ${row} any more.`);
  });
}

/** Rows that another file holds. */
export async function heldRows(
  rows: readonly Record<string, unknown>[],
  path: string,
  places?: readonly string[],
): Promise<FileRows> {
  const lines = rows.map((row) => Buffer.from(`${JSON.stringify(row)}\n`));
  return readUpload('jsonl', toAsync(lines), path, (row) =>
    Promise.resolve(places?.[row] ?? `${path}, test ${row + 1}`),
  );
}

async function* toAsync<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function readUpload(
  format: Format,
  bytes: AsyncIterable<Uint8Array>,
  path: string,
  placeOf: FileRows['placeOf'],
): Promise<FileRows> {
  try {
    return await withUpload(format, bytes, async ({ dataset, batches }) => {
      const rows: Record<string, unknown>[] = [];
      for await (const batch of batches())
        for (const line of batch) rows.push(JSON.parse(line) as Record<string, unknown>);
      return { ...rowsInMemory(dataset, rows), rowAt: (row) => rows[row]!, placeOf };
    });
  } catch (error) {
    if (error instanceof ApiError) throw new ConfigError(describe(error, path));
    if ((error as NodeJS.ErrnoException).syscall !== undefined)
      throw new ConfigError(`--data: ${(error as Error).message}`);
    throw error;
  }
}

function describe({ message, errors }: ApiError, path: string): string {
  if (errors.length === 0) return `--data ${path}: ${message}`;
  return errors
    .map((fault) => `${fault.pointer === '' ? path : fault.pointer.replace('/line ', `${path}:`)} ${fault.message}`)
    .join('\n');
}
