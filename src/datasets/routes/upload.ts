/** Checks an uploaded file row by row and keeps its rows in a temporary file. */
import { createHash, randomUUID } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { uploadLimits, type DatasetColumn } from '../contract/dataset.js';
import type { NewDataset } from '../store/datasets.js';
import { labelsOf } from '../../core/prompts/drafted.js';
import { asObject, isObject } from '../../util/json.js';
import { createTurns } from '../../util/turns.js';
import { ApiError, listed, refuse, type FieldError } from '../../platform/http/server/errors.js';
import { faultOf } from '../../platform/http/server/body.js';
import { readRows, type FileRow, type Format } from './rows.js';

/** Characters of rows that are written, or inserted, at a time. */
const batchChars = 1_000_000;

export interface Upload {
  dataset: NewDataset;
  /** Its rows in their order, each as JSON. */
  batches(): AsyncGenerator<string[]>;
}

/**
 * Refuses a file with faulty rows, and names at most twenty. The rows exist while `use` runs.
 * `pointer`: the field that holds the rows, if they are no file.
 */
export async function withUpload<T>(
  format: Format,
  body: AsyncIterable<Uint8Array>,
  use: (upload: Upload) => Promise<T>,
  pointer = '',
): Promise<T> {
  const path = join(tmpdir(), `ratchet-upload-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    // Without a name the file ends with its handle, also in a crash.
    await rm(path);
    const dataset = await spool(file, readRows(format, limited(body)), pointer);
    return await use({ dataset, batches: () => batchesOf(file) });
  } finally {
    await file.close();
  }
}

async function* limited(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > uploadLimits.bytes) throw tooLarge();
    yield chunk;
  }
}

/**
 * Reads the rest of a body, also if an iterator over it has yet to end. `resume` alone has no
 * effect while one waits for more, and is forgotten when it ends.
 */
export function discardRest(body: Readable): void {
  body.on('data', () => {});
  body.resume();
}

export function tooLarge(): ApiError {
  const most = uploadLimits.bytes / 1024 / 1024;
  return new ApiError(413, 'body_too_large', `The file is larger than ${most} MiB; upload it in parts.`);
}

async function spool(file: FileHandle, rows: AsyncIterable<FileRow>, pointer: string): Promise<NewDataset> {
  const hash = createHash('sha256');
  const columns = new Columns();
  const errors: FieldError[] = [];
  let pending: string[] = [];
  let chars = 0;
  let bytes = 0;
  let numRows = 0;
  const flush = async () => {
    const text = pending.join('');
    hash.update(text);
    bytes += Buffer.byteLength(text);
    await file.appendFile(text);
    [pending, chars] = [[], 0];
  };
  const turns = createTurns();
  for await (const row of rows) {
    await turns();
    // Before anything is done for each column.
    if ('value' in row) refuseWide(Object.keys(asObject(row.value) ?? {}), pointer);
    const fault = 'fault' in row ? row.fault : rowFault(row.value);
    if (fault !== null) {
      errors.push({ pointer: row.line === 0 ? '' : `/line ${row.line}`, message: fault });
      if (errors.length >= listed) break;
      continue;
    }
    if (numRows === uploadLimits.rows) {
      throw invalidFile(`has more than ${uploadLimits.rows.toLocaleString('en')} rows; upload it in parts`, pointer);
    }
    const { value } = row as { value: Record<string, unknown> };
    columns.add(value);
    numRows += 1;
    const text = `${JSON.stringify(value)}\n`;
    pending.push(text);
    chars += text.length;
    if (chars >= batchChars) await flush();
  }
  if (errors.length > 0) throw refuse.invalid(errors, 'invalid_rows');
  if (numRows === 0) throw invalidFile('has no rows', pointer);
  const { named } = columns;
  refuseWide(named, pointer);
  await flush();
  return { id: `ds_${hash.digest('hex')}`, numRows, columns: named, bytes };
}

/** The refusal of a file as a whole. */
function invalidFile(message: string, pointer: string): ApiError {
  return refuse.invalid([{ pointer, message }], 'invalid_rows');
}

function refuseWide({ length }: readonly unknown[], pointer: string): void {
  if (length > uploadLimits.columns)
    throw invalidFile(`has ${length} columns; at most ${uploadLimits.columns} are allowed`, pointer);
}

function rowFault(value: unknown): string | null {
  if (!isObject(value)) return 'must be an object with a value for each column';
  const names = Object.keys(value);
  if (names.length === 0) return 'has no columns';
  const { columnChars } = uploadLimits;
  const unnamed = names.find((name) => name.trim() === '' || name.length > columnChars);
  if (unnamed !== undefined) return `has a column whose name is blank or longer than ${columnChars} characters`;
  const fault = faultOf(value);
  return fault && `has a value at ${fault.pointer} that ${fault.message}`;
}

/** The rows of the file again, in batches. Not by readline: Node 24 also splits at U+2028. */
async function* batchesOf(file: FileHandle): AsyncGenerator<string[]> {
  let rest = '';
  const chunks = file.createReadStream({ start: 0, autoClose: false, encoding: 'utf8', highWaterMark: batchChars });
  for await (const chunk of chunks as AsyncIterable<string>) {
    const batch = (rest + chunk).split('\n');
    rest = batch.pop()!;
    if (batch.length > 0) yield batch;
  }
}

interface ColumnCounts {
  values: number;
  chars: number;
  /** Rows of each value as JSON; null: too many, or long ones. */
  distinct: Map<string, number> | null;
}

/** Counts of the values of each column, in the order of their first rows. */
class Columns {
  private readonly known = new Map<string, ColumnCounts>();

  add(row: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(row)) {
      let column = this.known.get(name);
      if (!column) this.known.set(name, (column = { values: 0, chars: 0, distinct: new Map() }));
      if (value === null || value === '') continue;
      const text = JSON.stringify(value);
      column.values += 1;
      column.chars += typeof value === 'string' ? value.length : text.length;
      column.distinct?.set(text, (column.distinct.get(text) ?? 0) + 1);
      const isMany = text.length > uploadLimits.columnChars || (column.distinct?.size ?? 0) > uploadLimits.distinct;
      if (isMany) column.distinct = null;
    }
  }

  get named(): DatasetColumn[] {
    let room = uploadLimits.labelChars;
    return [...this.known].map(([name, { values, chars, distinct }]) => {
      const found = distinct ? labelsOf(textsOf(distinct)) : [];
      room -= found.reduce((sum, { label }) => sum + label.length, 0);
      const labels = room < 0 ? [] : found;
      const mean = Math.round(chars / Math.max(1, values));
      return { name, num_values: values, num_distinct: distinct && distinct.size, mean_chars: mean, labels };
    });
  }
}

/** The counts by text; empty where a value is a list or an object. */
function textsOf(counts: ReadonlyMap<string, number>): Map<string, number> {
  const texts = new Map<string, number>();
  for (const [json, count] of counts) {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object') return new Map();
    texts.set(String(value), (texts.get(String(value)) ?? 0) + count);
  }
  return texts;
}
