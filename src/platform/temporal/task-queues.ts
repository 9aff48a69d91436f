import type { InstallationClient } from './installation-client.js';

/** Types of task with their numbers in Temporal's API (TaskQueueType). */
const types = { workflow: 1, activity: 2 };
const deadlineMs = 2_000;

/** Tasks that wait for a worker; `ageSeconds`: of the oldest. */
export interface TaskQueueBacklog {
  type: string;
  backlog: number;
  ageSeconds: number;
}

/** Reads the backlog of the workers' task queue from Temporal. */
export async function readTaskQueues(client: InstallationClient): Promise<TaskQueueBacklog[]> {
  return Promise.all(
    Object.entries(types).map(async ([type, taskQueueType]) => {
      const { stats } = await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflowService.describeTaskQueue({
          namespace: client.options.namespace,
          taskQueue: { name: client.installation.taskQueue },
          taskQueueType,
          reportStats: true,
        }),
      );
      const age = stats?.approximateBacklogAge;
      return {
        type,
        backlog: Number(stats?.approximateBacklogCount ?? 0),
        ageSeconds: Number(age?.seconds ?? 0) + (age?.nanos ?? 0) / 1e9,
      };
    }),
  );
}
