import type { Rubric } from '../../../contracts/rubric.js';
import type { Tx } from '../../../platform/db/db.js';
import type { JobRef } from '../../../jobs/store/events.js';

/** A task of a graph job; its index in the data set is the seed of its rollouts. */
export interface GraphTask {
  taskId: string;
  input: Record<string, unknown>;
  /** null: no gold output. */
  gold: { value: unknown } | null;
  rubric: Rubric | null;
}

/** A task with its index in the data set. */
export type IndexedTask = GraphTask & { index: number };

/** Stores the tasks of a new job. */
export async function insertTasks(tx: Tx, job: JobRef, tasks: readonly IndexedTask[]): Promise<void> {
  await tx.query(
    `insert into graph_tasks (job_id, task_index, org_id, task_id, input, gold, rubric)
     select $1, (task->>'index')::int, $2, task->>'taskId', task->'input', case when task->>'gold' is not null then task->'gold' end,
            case when task->>'rubric' is not null then task->'rubric' end
       from json_array_elements($3::json) as t(task)`,
    // Not toJsonb: HTTP has refused values that Postgres cannot store.
    [job.jobId, job.orgId, JSON.stringify(tasks)],
  );
}

/** Tasks by index. */
export async function readTasks(tx: Tx, jobId: string, indexes: readonly number[]): Promise<Map<number, GraphTask>> {
  const rows = await tx.query<GraphTask & { index: number } & Record<string, unknown>>(
    `select task_index as index, task_id as "taskId", input, gold, rubric from graph_tasks where job_id = $1 and task_index = any($2)`,
    [jobId, indexes],
    'read_graph_tasks',
  );
  return new Map(rows.map(({ index, ...task }) => [index, task]));
}

/** A digest of all tasks of a graph job, equal for equal data sets. */
export async function readTasksDigest(tx: Tx, jobId: string): Promise<string> {
  const [row] = await tx.query<{ digest: string }>(
    `select encode(sha256(convert_to(coalesce(string_agg(
              json_build_array(task_index, task_id, input, gold, rubric)::text, ',' order by task_index), ''), 'UTF8')), 'hex') as digest
       from graph_tasks where job_id = $1`,
    [jobId],
  );
  return row!.digest;
}
