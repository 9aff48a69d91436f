import { Resource } from './resource.js';
import type { Answer, Body, CallOptions, Item, Query } from './types.js';

/** The media types of files. */
export type FileType = 'application/json' | 'application/jsonl' | 'text/csv';

const typesByEnding: Record<string, FileType> = {
  json: 'application/json',
  jsonl: 'application/jsonl',
  ndjson: 'application/jsonl',
  csv: 'text/csv',
  tsv: 'text/csv',
};

/** `client.datasets` */
export class Datasets extends Resource {
  /**
   * Uploads rows, or a file. `type` is required unless a blob has it, or a name that ends with it.
   * `name`: by default that of the file.
   */
  upload(
    source: Body<'uploadDataset'> | Blob | string | ReadableStream<Uint8Array>,
    { type, name, ...options }: CallOptions & { type?: FileType; name?: string } = {},
  ): Promise<Answer<'uploadDataset'>> {
    const named = { ...options, query: { name: name ?? nameOf(source) } };
    if (Array.isArray(source)) {
      return this.client.upload({ type: 'application/json', data: JSON.stringify(source) }, named);
    }
    return this.client.upload({ type: type ?? typeOf(source), data: source }, named);
  }

  /** Names a data set; null: it has no name. */
  rename(datasetId: string, name: string | null, options?: CallOptions): Promise<Answer<'renameDataset'>> {
    return this.client.request('renameDataset', { ...options, path: { dataset_id: datasetId }, body: { name } });
  }

  get(datasetId: string, options?: CallOptions): Promise<Answer<'getDataset'>> {
    return this.client.request('getDataset', { ...options, path: { dataset_id: datasetId } });
  }

  list(query?: Query<'listDatasets'>, options?: CallOptions): AsyncGenerator<Item<'listDatasets'>, void> {
    return this.client.list('listDatasets', { ...options, query });
  }

  rows(
    datasetId: string,
    query?: Query<'listDatasetRows'>,
    options?: CallOptions,
  ): AsyncGenerator<Item<'listDatasetRows'>, void> {
    return this.client.list('listDatasetRows', { ...options, path: { dataset_id: datasetId }, query });
  }

  delete(datasetId: string, options?: CallOptions): Promise<undefined> {
    return this.client.request('deleteDataset', { ...options, path: { dataset_id: datasetId } });
  }
}

/** The name of a file, as the service accepts it; undefined: no file. */
function nameOf(source: unknown): string | undefined {
  const given = source instanceof Blob && 'name' in source ? String(source.name) : '';
  const name = given.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').trim();
  return [...name].slice(0, 100).join('') || undefined;
}

function typeOf(source: Blob | string | ReadableStream<Uint8Array>): string {
  const ending = source instanceof Blob && 'name' in source ? /\.(\w+)$/.exec(String(source.name))?.[1] : undefined;
  const type = typesByEnding[ending?.toLowerCase() ?? ''] ?? (source instanceof Blob ? source.type : '');
  if (type === '') throw new TypeError('type is missing: name the media type of the file, such as text/csv.');
  return type;
}
