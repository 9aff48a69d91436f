import { WorkflowNotFoundError, type Client, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Logger } from 'pino';
import { endEvents } from '../../core/events/jobs.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import type { Db } from '../db/db.js';
import { isDeleted } from '../../kinds/deployment/store/deployments.js';
import { finishJob, type ClosedState } from '../../jobs/store/decisions/record.js';
import { markSending, readDueWebhooks } from '../../jobs/store/webhooks.js';
import { takeLostWake } from '../../rollouts/store/slots.js';
import { startRepeating } from '../../util/repeating.js';
import { readCloseReason } from './close-reason.js';
import { cancelWorkflow, signalRewards } from './commands.js';
import { startWebhook, startWorkflow } from './starter.js';

const batch = 200;
/** Time limit of Temporal's answer for one job. */
const deadlineMs = 5_000;
/** A create starts its own workflow; the reconciler waits this long for it. */
const startGraceSeconds = 3;
/** The request that records the last awaited reward has this long to signal the workflow. */
const wakeGraceSeconds = 2;

interface OpenJob extends Record<string, unknown> {
  id: string;
  org_id: string;
  kind: JobKind;
  workflow_id: string;
  workflow_started: boolean;
}

export interface Reconciler {
  /** Runs one pass now. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

/** Called for each job that a sweep has closed. */
type OnClosed = (kind: JobKind, status: ClosedState['status']) => void;

/**
 * Repairs what a crash or an operator left behind: closes jobs whose workflow is closed or gone;
 * starts missing workflows; repeats lost reward signals; cancels workflows of deleted deployments.
 * Starts the delivery of due webhooks. Each step is idempotent: several processes may run it.
 */
export function startReconciler(
  client: Client,
  db: Db,
  log: Logger,
  everyMs = 5_000,
  onClosed: OnClosed = () => undefined,
): Reconciler {
  const { run, stop } = startRepeating(
    (stopping) => sweepOnce(client, db, log, onClosed, stopping),
    everyMs,
    (err) => log.warn({ err }, 'reconciler sweep failed; retrying at the next'),
  );
  return { sweep: run, stop };
}

async function sweepOnce(
  client: Client,
  db: Db,
  log: Logger,
  onClosed: OnClosed,
  stopping: AbortSignal,
): Promise<void> {
  const jobs = await db.worker((tx) =>
    tx.query<OpenJob>('select * from open_jobs(now() - make_interval(secs => $1), $2)', [startGraceSeconds, batch]),
  );
  for (const job of jobs) {
    if (stopping.aborted) return;
    try {
      await client.withDeadline(Date.now() + deadlineMs, () => check(client, db, log, onClosed, job));
    } catch (err) {
      log.warn({ err, job_id: job.id }, 'job not checked; retrying at the next sweep');
    }
  }
  await startWebhooks(client, db, log, stopping);
}

async function startWebhooks(client: Client, db: Db, log: Logger, stopping: AbortSignal): Promise<void> {
  for (const job of await db.worker((tx) => readDueWebhooks(tx, batch))) {
    if (stopping.aborted) return;
    try {
      await client.withDeadline(Date.now() + deadlineMs, () => startWebhook(client, job));
      await db.org(job.orgId, (tx) => markSending(tx, job.jobId));
    } catch (err) {
      log.warn({ err, job_id: job.jobId }, 'webhook not started; retrying at the next sweep');
    }
  }
}

async function check(client: Client, db: Db, log: Logger, onClosed: OnClosed, job: OpenJob): Promise<void> {
  const ref = { orgId: job.org_id, jobId: job.id };
  if (!job.workflow_started) {
    await startWorkflow(client, db, { ...ref, kind: job.kind });
    log.info({ job_id: job.id }, 'workflow started by the reconciler');
    return;
  }
  const ending = await readEnding(client, job);
  const { isClosed, isForgotten, isUnwanted } = await db.org(job.org_id, async (tx) => {
    const isClosed = ending && (await finishJob(tx, ref, ending));
    const isForgotten = !ending && (await takeLostWake(tx, job.id, wakeGraceSeconds));
    // Last, since the order of locks is the control row, then the job's row.
    await tx.query('update jobs set checked_at = now() where id = $1', [job.id]);
    return { isClosed, isForgotten, isUnwanted: !ending && job.kind === 'deployment' && (await isDeleted(tx, job.id)) };
  });
  if (ending && isClosed) {
    onClosed(job.kind, ending.status);
    log.warn(
      { job_id: job.id, status: ending.status, reason: ending.error?.message },
      'job closed by the reconciler: its workflow is closed',
    );
  }
  if (isForgotten) await signalRewards(client, job.workflow_id);
  if (isUnwanted) await cancelWorkflow(client, job.workflow_id);
}

/** The job's ending by the status of its workflow; null: the workflow still runs. */
async function readEnding(client: Client, job: OpenJob): Promise<ClosedState | null> {
  const workflowId = job.workflow_id;
  let status: WorkflowExecutionStatusName | 'GONE';
  try {
    status = (await client.workflow.getHandle(workflowId).describe()).status.name;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    status = 'GONE';
  }
  if (status === 'RUNNING' || status === 'CONTINUED_AS_NEW' || status === 'PAUSED') return null;
  if (status === 'CANCELLED') {
    const events = endEvents(job.kind, { status: 'cancelled' });
    return { status: 'cancelled', stoppedBy: 'cancelled', error: null, events, workflowId, accepted: [] };
  }
  const reason = status === 'TERMINATED' || status === 'FAILED' ? await readCloseReason(client, workflowId) : null;
  const message = messageOf(status, reason);
  const code = `workflow_${status.toLowerCase()}`;
  const error = { code, message, retryable: true };
  const events = endEvents(job.kind, { status: 'failed', error });
  return { status: 'failed', stoppedBy: 'failed', error, events, workflowId, accepted: [] };
}

function messageOf(status: WorkflowExecutionStatusName | 'GONE', reason: string | null): string {
  const because = reason === null ? '.' : `: ${reason.replace(/\.$/, '')}.`;
  switch (status) {
    case 'TERMINATED':
      return `The job's workflow was terminated from outside${because} Results so far are kept. Create the job again to continue.`;
    case 'TIMED_OUT':
      return "The job's workflow timed out. Results so far are kept.";
    case 'GONE':
      return "The job's workflow is no longer in Temporal: its history was deleted, or the cluster was replaced.";
    default:
      return `The job's workflow closed as ${status} and left the job open${because}`;
  }
}
