import type { Tx } from '../../platform/db/db.js';

/** The rows of a data set with these indexes, in their order, as JSON. */
export async function readDatasetLines(tx: Tx, datasetId: string, indexes: readonly number[]): Promise<string[]> {
  const rows = await tx.query<{ line: string }>(
    `select data::text as line from dataset_rows where dataset_id = $1 and row_index = any($2::int[]) order by row_index`,
    [datasetId, indexes],
  );
  return rows.map(({ line }) => line.replaceAll('\n', ' '));
}

/** Tasks of a graph job with these indexes, as JSON: their fields, then the gold output. */
export async function readTaskLines(tx: Tx, jobId: string, indexes: readonly number[]): Promise<string[]> {
  const rows = await tx.query<{ taskId: string; input: Record<string, unknown>; gold: { value: unknown } | null }>(
    `select task_id as "taskId", input, gold from graph_tasks
      where job_id = $1 and task_index = any($2::int[]) order by task_index`,
    [jobId, indexes],
  );
  return rows.map(({ taskId, input, gold }) =>
    JSON.stringify({ ...input, ...(gold && { expected: gold.value }), task_id: taskId }),
  );
}
