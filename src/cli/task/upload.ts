/** Uploads the rows of a task. */
import { Readable } from 'node:stream';
import type { Ratchet } from '../../client/index.js';
import { formatOf, openData } from './data-file.js';
import type { Files } from './files.js';
import { taskRequest, type TaskRequest } from './requests.js';
import { dataOf, type ReadTask } from './task.js';

/** A file may be large, and its way slow. */
const uploadMs = 3_600_000;

/** The request's fields: the uploaded rows, the scorer, the models. */
export async function taskFields({ datasets }: Ratchet, task: ReadTask): Promise<TaskRequest> {
  const { rows, files } = task;
  const data = dataOf(task);
  const { dataset_id: datasetId } = rows
    ? await datasets.upload(rows)
    : await datasets.upload(await webStream(data, files), { type: formatOf(data).type, timeoutMs: uploadMs });
  return taskRequest(task, datasetId);
}

async function webStream(path: string, files: Files): Promise<ReadableStream<Uint8Array>> {
  return Readable.toWeb(await openData(path, files)) as ReadableStream<Uint8Array>;
}
