/** Uploads the rows of a task. */
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { Ratchet } from '../../client/index.js';
import { formatOf, openData } from './data-file.js';
import type { Files } from './files.js';
import { taskRequest, type TaskRequest } from './requests.js';
import { dataOf, type ReadTask } from './task.js';

/** A file may be large, and its way slow. */
const uploadMs = 3_600_000;

/** The request's fields: the uploaded rows, the scorer, the models. */
export async function taskFields(client: Ratchet, task: ReadTask): Promise<TaskRequest> {
  const { rows, files } = task;
  const data = dataOf(task);
  const datasetId = rows ? (await client.datasets.upload(rows)).dataset_id : await uploadFile(client, data, files);
  return taskRequest(task, datasetId);
}

/** Uploads the rows of a file; returns the id of the data set. */
export async function uploadFile({ datasets }: Ratchet, data: string, files: Files): Promise<string> {
  const options = { type: formatOf(data).type, name: basename(data), timeoutMs: uploadMs };
  return (await datasets.upload(await webStream(data, files), options)).dataset_id;
}

async function webStream(path: string, files: Files): Promise<ReadableStream<Uint8Array>> {
  return Readable.toWeb(await openData(path, files)) as ReadableStream<Uint8Array>;
}
