import { WorkflowNotFoundError, type Client, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Logger } from 'pino';
import { endEvents } from '../core/events/jobs.js';
import type { JobKind } from '../core/jobs/kinds.js';
import type { Db } from '../storage/db/db.js';
import { isDeleted } from '../storage/deployments/deployments.js';
import { finishJob, type Ending } from '../storage/decisions/record.js';
import { takeLostWake } from '../storage/rollouts/slots.js';
import { cancelWorkflow, tellOfRewards } from './commands.js';
import { startWorkflow } from './starter.js';

const batch = 200;
/** How long Temporal may take to answer for one job. */
const deadlineMs = 5_000;
/** A create starts its own workflow; the reconciler leaves it this long to do so. */
const startGraceSeconds = 3;
/** Whoever takes the last reward that a workflow waits for tells it; the reconciler leaves it this long to do so. */
const wakeGraceSeconds = 2;

interface OpenJob extends Record<string, unknown> {
  id: string;
  org_id: string;
  kind: JobKind;
  workflow_id: string;
  workflow_started: boolean;
}

export interface Reconciler {
  /** One pass now. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Closes what no workflow code could: an open row whose workflow was terminated, failed, timed out or is gone; starts the
 * workflow of a create that was lost before its start, tells a workflow of rewards whose taker was lost before it did, and cancels that of
 * a deployment that was deleted while it was built. Any number of processes may run it: each step is idempotent.
 */
export function startReconciler(client: Client, db: Db, log: Logger, everyMs = 5_000): Reconciler {
  let running: Promise<void> | null = null;
  const stopping = new AbortController();
  const sweep = () =>
    (running ??= sweepOnce(client, db, log, stopping.signal)
      .catch((err: Error) => log.warn({ err }, 'a sweep of the reconciler failed; the next follows'))
      .finally(() => (running = null)));
  const timer = setInterval(() => void sweep(), everyMs);
  return {
    sweep,
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

async function sweepOnce(client: Client, db: Db, log: Logger, stopping: AbortSignal): Promise<void> {
  const jobs = await db.worker((tx) =>
    tx.query<OpenJob>(
      `select id, org_id, kind, workflow_id, workflow_started from jobs
        where status in ('running', 'paused') and created_at < now() - make_interval(secs => $1)
        order by checked_at limit $2`,
      [startGraceSeconds, batch],
    ),
  );
  for (const job of jobs) {
    if (stopping.aborted) return;
    try {
      await client.withDeadline(Date.now() + deadlineMs, () => check(client, db, log, job));
    } catch (err) {
      log.warn({ err, job_id: job.id }, 'a job could not be checked; the next sweep does it');
    }
  }
}

async function check(client: Client, db: Db, log: Logger, job: OpenJob): Promise<void> {
  const where = { orgId: job.org_id, jobId: job.id };
  if (!job.workflow_started) {
    await startWorkflow(client, db, { ...where, kind: job.kind });
    log.info({ job_id: job.id }, 'started a workflow whose start was lost');
    return;
  }
  const ending = await closedBy(client, job);
  const { isForgotten, isUnwanted } = await db.org(job.org_id, async (tx) => {
    if (ending && (await finishJob(tx, where, ending))) {
      log.warn(
        { job_id: job.id, status: ending.status, reason: ending.error?.message },
        'closed a job whose workflow is closed',
      );
    }
    const isForgotten = !ending && (await takeLostWake(tx, job.id, wakeGraceSeconds));
    // Last: whoever locks both rows of a job locks its control row first.
    await tx.query('update jobs set checked_at = now() where id = $1', [job.id]);
    return { isForgotten, isUnwanted: !ending && job.kind === 'deployment' && (await isDeleted(tx, job.id)) };
  });
  if (isForgotten) await tellOfRewards(client, job.workflow_id);
  if (isUnwanted) await cancelWorkflow(client, job.workflow_id);
}

/** How the job must be closed, or null: its workflow still runs. */
async function closedBy(client: Client, job: OpenJob): Promise<Ending | null> {
  let status: WorkflowExecutionStatusName | 'GONE';
  try {
    status = (await client.workflow.getHandle(job.workflow_id).describe()).status.name;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    status = 'GONE';
  }
  if (status === 'RUNNING' || status === 'CONTINUED_AS_NEW' || status === 'PAUSED') return null;
  if (status === 'CANCELLED') {
    const events = endEvents(job.kind, { status: 'cancelled' });
    return { status: 'cancelled', stoppedBy: 'cancelled', error: null, events, accepted: [] };
  }
  const message = reasons[status] ?? `The job's workflow closed as ${status} without closing the job.`;
  const code = `workflow_${status.toLowerCase()}`;
  const error = { code, message, retryable: true };
  const events = endEvents(job.kind, { status: 'failed', error });
  return { status: 'failed', stoppedBy: 'failed', error, events, accepted: [] };
}

const reasons: Partial<Record<WorkflowExecutionStatusName | 'GONE', string>> = {
  TERMINATED:
    "The job's workflow was terminated from outside; what was recorded until then is kept. Create the job again to go on.",
  TIMED_OUT: "The job's workflow timed out; what was recorded until then is kept.",
  GONE: "The job's workflow is not in Temporal any more (its history was deleted, or the cluster was replaced).",
};
