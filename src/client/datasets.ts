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
   */
  upload(
    source: Body<'uploadDataset'> | Blob | string | ReadableStream<Uint8Array>,
    { type, ...options }: CallOptions & { type?: FileType } = {},
  ): Promise<Answer<'uploadDataset'>> {
    if (Array.isArray(source)) {
      return this.client.upload({ type: 'application/json', data: JSON.stringify(source) }, options);
    }
    return this.client.upload({ type: type ?? typeOf(source), data: source }, options);
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

function typeOf(source: Blob | string | ReadableStream<Uint8Array>): string {
  const ending = source instanceof Blob && 'name' in source ? /\.(\w+)$/.exec(String(source.name))?.[1] : undefined;
  const type = typesByEnding[ending?.toLowerCase() ?? ''] ?? (source instanceof Blob ? source.type : '');
  if (type === '') throw new TypeError('type is missing: name the media type of the file, such as text/csv.');
  return type;
}
