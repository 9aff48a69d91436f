import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy, WorkflowNotFoundError } from '@temporalio/client';
import {
  algorithmAttribute,
  nameAttribute,
  orgAttribute,
  rolloutsAttribute,
  statusAttribute,
  tagsAttribute,
  type JobInput,
  type JudgeInput,
} from '../../../workflows/messages.js';
import type { Labels } from '../../contracts/labels.js';
import { jobKinds, workflowId, type JobKind } from '../../core/jobs/kinds.js';
import type { Db } from '../db/db.js';
import { JobGoneError } from '../../jobs/store/events.js';
import type { JudgedName } from '../../kinds/deployment/store/judges.js';
import type { DueWebhook } from '../../jobs/store/webhooks.js';
import type { InstallationClient } from './installation-client.js';

/** Characters of a name in the summary, which has at most 400 bytes in Temporal. */
const shownName = 30;

/** The part of a job's row that starts its workflow. */
export interface StartableJob {
  orgId: string;
  jobId: string;
  kind: JobKind;
}

/**
 * Starts the workflow of a job's current run and marks it as started. An existing workflow counts
 * as started: its id is the run's, so a lost start can be repeated.
 */
export async function startWorkflow(client: InstallationClient, db: Db, job: StartableJob): Promise<void> {
  const input: JobInput = { orgId: job.orgId, jobId: job.jobId };
  const [row] = await db.org(job.orgId, (tx) =>
    tx.query<
      { workflow_id: string; algorithm: string | null; name: string | null } & Pick<Labels, 'tags' | 'metadata'>
    >(`select workflow_id, algorithm, coalesce(name, spec->>'name') as name, tags, metadata from jobs where id = $1`, [
      job.jobId,
    ]),
  );
  if (!row) throw new JobGoneError(`Job "${job.jobId}" is not in the database.`);
  const { workflow_id: workflowId, name, tags, metadata } = row;
  const algorithm = row.algorithm ?? 'none';
  const { workflow, title, takesCommands } = jobKinds[job.kind];
  try {
    await client.workflow.start(workflow, {
      workflowId,
      taskQueue: client.installation.taskQueue,
      args: [input],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      staticSummary: `${title(algorithm)} ${job.jobId}${name === null ? '' : `: ${[...name].slice(0, shownName).join('')}`}`,
      memo: { ...(name !== null && { name }), tags, metadata, rollouts: 0 },
      staticDetails: `Organization ${job.orgId}. ${takesCommands ? 'Pause, resume, cancel and reward are signals; status is a query.' : 'Status is a query.'}`,
      typedSearchAttributes: [
        { key: orgAttribute, value: job.orgId },
        { key: algorithmAttribute, value: algorithm },
        { key: statusAttribute, value: 'running' },
        { key: rolloutsAttribute, value: 0 },
        ...(name === null ? [] : [{ key: nameAttribute, value: name }]),
        ...(tags.length > 0 ? [{ key: tagsAttribute, value: tags }] : []),
      ],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  await db.org(job.orgId, (tx) =>
    tx.query('update jobs set workflow_started = true where id = $1 and workflow_id = $2', [job.jobId, workflowId]),
  );
}

/** Whether the workflow that delivers a job's webhook may still do so. */
export async function isWebhookOpen(client: InstallationClient, job: DueWebhook): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(webhookWorkflowId(job)).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

function webhookWorkflowId({ jobId, run, workflowSuffix }: DueWebhook): string {
  return workflowId('webhook', jobId, run, workflowSuffix);
}

/** Starts the workflow that delivers a job's webhook, unless it exists. */
export async function startWebhook(client: InstallationClient, job: DueWebhook): Promise<void> {
  const { orgId, jobId } = job;
  const input: JobInput = { orgId, jobId };
  try {
    await client.workflow.start('webhookWorkflow', {
      workflowId: webhookWorkflowId(job),
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      taskQueue: client.installation.taskQueue,
      args: [input],
      staticSummary: `webhook of ${jobId}`,
      typedSearchAttributes: [{ key: orgAttribute, value: orgId }],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Starts the workflow that judges answers of a deployment's name, unless it runs. */
export async function startJudge(client: InstallationClient, { orgId, name }: JudgedName): Promise<void> {
  const input: JudgeInput = { orgId, name };
  const { id, taskQueue } = client.installation;
  try {
    await client.workflow.start('judgeWorkflow', {
      // Names are of an organization and an installation; a cluster may have several.
      workflowId: `judge-${name}-${orgId}-${id}`,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      taskQueue,
      args: [input],
      staticSummary: `judge of ${name}`,
      typedSearchAttributes: [
        { key: orgAttribute, value: orgId },
        { key: nameAttribute, value: name },
      ],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
