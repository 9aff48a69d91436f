/** The file of a task's rows. */
import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { ConfigError } from '../../config.js';

const formats = {
  '.json': { format: 'json', type: 'application/json' },
  '.jsonl': { format: 'jsonl', type: 'application/jsonl' },
  '.ndjson': { format: 'jsonl', type: 'application/jsonl' },
  '.csv': { format: 'csv', type: 'text/csv' },
} as const;

/** Form and media type, by the end of the name. */
export function formatOf(path: string): (typeof formats)[keyof typeof formats] {
  const found = Object.entries(formats).find(([end]) => extname(path).toLowerCase() === end);
  if (!found) throw new ConfigError(`--data ${path}: must end in ${Object.keys(formats).join(', ')}`);
  return found[1];
}

/** The bytes of the file; throws a ConfigError if it cannot be read. */
export async function openData(path: string): Promise<Readable> {
  const file = await open(path).catch((error: Error) => {
    throw new ConfigError(`--data: ${error.message}`);
  });
  return file.createReadStream();
}
