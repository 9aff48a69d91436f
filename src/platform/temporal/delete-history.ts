import { isGrpcServiceError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { workflowId, type JobKind } from '../../core/jobs/kinds.js';

/** Time limit of the deletion of all runs of a job. */
const deletionMs = 30_000;
/** gRPC code NOT_FOUND. */
const notFound = 5;

/** The workflows of all runs of a job, and of its webhooks. */
export interface JobHistories {
  jobId: string;
  kind: JobKind;
  runs: number;
  workflowSuffix: string;
}

/** Deletes the histories of all runs of a job and of its webhooks. */
export async function deleteHistories(
  client: Client,
  { jobId, kind, runs, workflowSuffix }: JobHistories,
): Promise<void> {
  await client.withDeadline(Date.now() + deletionMs, async () => {
    for (let run = 1; run <= runs; run++) {
      await deleteHistory(client, workflowId('webhook', jobId, run, workflowSuffix));
      await deleteHistory(client, workflowId(kind, jobId, run, workflowSuffix));
    }
  });
}

/** Deletes all runs of a workflow, the oldest first: an interrupted call can be repeated. */
async function deleteHistory(client: Client, workflowId: string): Promise<void> {
  const { namespace } = client.options;
  for (const runId of await runsOf(client, workflowId)) {
    await unlessMissing(
      client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } }),
    );
  }
}

/** The run ids, the oldest first. Each run names the one that it continues. */
async function runsOf(client: Client, workflowId: string): Promise<string[]> {
  const runs: string[] = [];
  let runId = await latestRun(client, workflowId);
  while (runId) {
    const start = await unlessMissing(firstEvent(client, workflowId, runId));
    if (!start) break;
    runs.unshift(runId);
    runId = start.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? null;
  }
  return runs;
}

async function firstEvent({ workflowService, options: { namespace } }: Client, workflowId: string, runId: string) {
  const wanted = { namespace, execution: { workflowId, runId }, maximumPageSize: 1 };
  return (await workflowService.getWorkflowExecutionHistory(wanted)).history!.events![0]!;
}

async function latestRun(client: Client, workflowId: string): Promise<string | null> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).runId;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** Null: Temporal does not have it, or not any more. */
async function unlessMissing<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === notFound) return null;
    throw error;
  }
}
