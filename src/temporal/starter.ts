import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy, type Client } from '@temporalio/client';
import {
  algorithmAttribute,
  kindAttribute,
  orgAttribute,
  statusAttribute,
  taskQueue,
  type JobInput,
} from '../../workflows/messages.js';
import { jobKinds, workflowId, type JobKind } from '../core/jobs/kinds.js';
import type { Db } from '../storage/db/db.js';

/** What is needed to start a job's workflow; all of it stands in its row. */
export interface StartableJob {
  orgId: string;
  jobId: string;
  kind: JobKind;
}

/**
 * Starts a job's workflow and notes that it is started. A workflow that is there already is a success: the id holds the
 * job's, so a start that was lost can be repeated without harm.
 */
export async function startWorkflow(client: Client, db: Db, job: StartableJob): Promise<void> {
  const input: JobInput = { orgId: job.orgId, jobId: job.jobId };
  const [row] = await db.org(job.orgId, (tx) =>
    tx.query<{ algorithm: string | null }>('select algorithm from jobs where id = $1', [job.jobId]),
  );
  const algorithm = row?.algorithm ?? 'none';
  const { workflow, title, takesCommands } = jobKinds[job.kind];
  try {
    await client.workflow.start(workflow, {
      workflowId: workflowId(job.kind, job.jobId),
      taskQueue,
      args: [input],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      staticSummary: `${title(algorithm)} ${job.jobId}`,
      staticDetails: `Organization ${job.orgId}. ${takesCommands ? 'Pause, resume, cancel and reward are signals; status is a query.' : 'Status is a query.'}`,
      typedSearchAttributes: [
        { key: orgAttribute, value: job.orgId },
        { key: kindAttribute, value: job.kind },
        { key: algorithmAttribute, value: algorithm },
        { key: statusAttribute, value: 'running' },
      ],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  await db.org(job.orgId, (tx) => tx.query('update jobs set workflow_started = true where id = $1', [job.jobId]));
}
