/** The file of a task's rows. */
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { ConfigError } from '../../service/config.js';
import type { Files } from './files.js';

const formats = {
  '.json': { format: 'json', type: 'application/json' },
  '.jsonl': { format: 'jsonl', type: 'application/jsonl' },
  '.ndjson': { format: 'jsonl', type: 'application/jsonl' },
  '.csv': { format: 'csv', type: 'text/csv' },
  '.tsv': { format: 'csv', type: 'text/csv' },
} as const;

/** Form and media type, by the end of the name. */
export function formatOf(path: string): (typeof formats)[keyof typeof formats] {
  const found = Object.entries(formats).find(([end]) => extname(path).toLowerCase() === end);
  if (!found) throw new ConfigError(`--data ${path}: must end in ${Object.keys(formats).join(', ')}`);
  return found[1];
}

/** The bytes of the file; throws a ConfigError if it cannot be read. */
export function openData(path: string, files: Files): Promise<Readable> {
  return files.open(path, '--data');
}
