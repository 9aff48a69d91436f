import { WorkflowNotFoundError, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Logger } from 'pino';
import { endEvents } from '../../core/events/jobs.js';
import { workStoodStill } from '../../core/jobs/failures.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import type { Db, Tx } from '../db/db.js';
import { isDeleted } from '../../kinds/deployment/store/deployments.js';
import { readDueJudges } from '../../kinds/deployment/store/judges.js';
import { finishJob, type ClosedState } from '../../jobs/store/decisions/record.js';
import { isParentOver } from '../../jobs/store/parents.js';
import { clearStuck, markStuck, type FailingTask } from '../../jobs/store/stuck.js';
import { failWebhook, markSending, readWebhooks } from '../../jobs/store/webhooks.js';
import { takeLostWake } from '../../rollouts/store/slots.js';
import { startRepeating } from '../../util/repeating.js';
import { readCloseReason } from './close-reason.js';
import { readFailingTask } from './failing-task.js';
import { cancelWorkflow, signalRewards } from './commands.js';
import type { InstallationClient } from './installation-client.js';
import { syncSchedules } from './schedules.js';
import { isWebhookOpen, startJudge, startWebhook, startWorkflow } from './starter.js';

const batch = 200;
/** Webhooks under way that a sweep looks at: most of them end by themselves. */
const sendingBatch = 20;
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
  /** As it was marked; null: it was not stuck. */
  stuck_cause: string | null;
}

export interface Reconciler {
  /** Runs one pass now. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

/** What a reconciler works on, and who is told what it finds. */
export interface ReconcilerOptions {
  client: InstallationClient;
  db: Db;
  log: Logger;
  /** Default 5 s. */
  everyMs?: number;
  /** Called for each job that a sweep has closed. */
  onClosed?(kind: JobKind, status: ClosedState['status']): void;
  /** Called for each job whose workflow tasks begin to fail, and for each new cause. */
  onStuck?(cause: string): void;
}

/**
 * Repairs what a crash or an operator left behind: closes jobs whose workflow is closed or gone;
 * starts missing workflows; repeats lost reward signals; cancels workflows of deleted deployments
 * and jobs of ended ones and of ended migrations. Marks jobs whose workflow tasks fail. Starts the
 * delivery of due webhooks, and gives up those whose workflow is closed; starts judges with answers
 * that wait; writes schedules to Temporal. Each step is idempotent: several processes may run it.
 */
export function startReconciler(options: ReconcilerOptions): Reconciler {
  const { run, stop } = startRepeating(
    (stopping) => sweepOnce(options, stopping),
    options.everyMs ?? 5_000,
    (err) => options.log.warn({ err }, 'reconciler sweep failed; retrying at the next'),
  );
  return { sweep: run, stop };
}

async function sweepOnce(options: ReconcilerOptions, stopping: AbortSignal): Promise<void> {
  const { client, db, log } = options;
  const jobs = await db.worker((tx) =>
    tx.query<OpenJob>('select * from open_jobs(now() - make_interval(secs => $1), $2)', [startGraceSeconds, batch]),
  );
  for (const job of jobs) {
    if (stopping.aborted) return;
    try {
      await client.withDeadline(Date.now() + deadlineMs, () => check(options, job));
    } catch (err) {
      log.warn({ err, job_id: job.id }, 'job not checked; retrying at the next sweep');
    }
  }
  await startWebhooks(client, db, log, stopping);
  await startJudges(client, db, log, stopping);
  await giveUpWebhooks(options, stopping);
  await syncSchedules(options, stopping);
}

async function startWebhooks(client: InstallationClient, db: Db, log: Logger, stopping: AbortSignal): Promise<void> {
  for (const job of await db.worker((tx) => readWebhooks(tx, 'due', batch))) {
    if (stopping.aborted) return;
    try {
      await client.withDeadline(Date.now() + deadlineMs, () => startWebhook(client, job));
      await db.org(job.orgId, (tx) => markSending(tx, job.jobId));
    } catch (err) {
      log.warn({ err, job_id: job.jobId }, 'webhook not started; retrying at the next sweep');
    }
  }
}

async function startJudges(client: InstallationClient, db: Db, log: Logger, stopping: AbortSignal): Promise<void> {
  for (const judge of await db.worker((tx) => readDueJudges(tx, batch))) {
    if (stopping.aborted) return;
    try {
      await client.withDeadline(Date.now() + deadlineMs, () => startJudge(client, judge));
    } catch (err) {
      log.warn({ err, deployment: judge.name }, 'judge not started; retrying at the next sweep');
    }
  }
}

/** Gives up webhooks whose workflow was ended from outside. */
async function giveUpWebhooks({ client, db, log }: ReconcilerOptions, stopping: AbortSignal): Promise<void> {
  for (const job of await db.worker((tx) => readWebhooks(tx, 'sending', sendingBatch))) {
    if (stopping.aborted) return;
    try {
      if (await client.withDeadline(Date.now() + deadlineMs, () => isWebhookOpen(client, job))) continue;
      await db.org(job.orgId, (tx) => failWebhook(tx, job.jobId));
      log.warn({ job_id: job.jobId }, 'webhook given up: its workflow is closed');
    } catch (err) {
      log.warn({ err, job_id: job.jobId }, 'webhook not checked; retrying at a later sweep');
    }
  }
}

async function check(options: ReconcilerOptions, job: OpenJob): Promise<void> {
  const { client, db, log } = options;
  const ref = { orgId: job.org_id, jobId: job.id };
  if (!job.workflow_started) {
    await startWorkflow(client, db, { ...ref, kind: job.kind });
    log.info({ job_id: job.id }, 'workflow started by the reconciler');
    return;
  }
  const found = await readState(client, job);
  const ending = found.state === 'ended' ? found.ending : null;
  const { isClosed, isForgotten, isUnwanted, report } = await db.org(job.org_id, async (tx) => {
    const isClosed = ending && (await finishJob(tx, ref, ending));
    const isForgotten = !ending && (await takeLostWake(tx, job.id, wakeGraceSeconds));
    const report = found.state === 'open' ? await mark(tx, job, found.failing) : null;
    // Last, since the order of locks is the control row, then the job's row.
    await tx.query('update jobs set checked_at = now() where id = $1', [job.id]);
    const isUnwanted = !ending && (await isOver(tx, job));
    return { isClosed, isForgotten, isUnwanted, report };
  });
  report?.(options);
  if (ending && isClosed) {
    options.onClosed?.(job.kind, ending.status);
    log.warn(
      { job_id: job.id, status: ending.status, reason: ending.error?.message },
      'job closed by the reconciler: its workflow is closed',
    );
  }
  if (isForgotten) await signalRewards(client, job.workflow_id);
  if (isUnwanted) await cancelWorkflow(client, job.workflow_id);
}

/** Whether nothing needs an open job: a deleted deployment, or a job of one that has ended. */
async function isOver(tx: Tx, { id, kind }: OpenJob): Promise<boolean> {
  if (kind === 'deployment') return isDeleted(tx, id);
  return (kind === 'evaluation' || kind === 'session') && isParentOver(tx, id);
}

/** Marks what has changed since the last visit; returns how to report it. */
async function mark(
  tx: Tx,
  { id, stuck_cause: before }: OpenJob,
  failing: FailingTask | null,
): Promise<((options: ReconcilerOptions) => void) | null> {
  if (failing && failing.cause !== before && (await markStuck(tx, id, failing)))
    return ({ log, onStuck }) => {
      onStuck?.(failing.cause);
      log.error(
        { job_id: id, cause: failing.cause, reason: failing.message },
        `job is stuck: ${failing.cause === workStoodStill ? 'its work stands still' : 'its workflow task fails'} and is retried`,
      );
    };
  if (!failing && before !== null && (await clearStuck(tx, id)))
    return ({ log }) => log.warn({ job_id: id, cause: before }, 'job goes on');
  return null;
}

/** `paused`: by an operator, so that its task is not tried. */
type WorkflowState =
  { state: 'open'; failing: FailingTask | null } | { state: 'paused' } | { state: 'ended'; ending: ClosedState };

/** Whether a job's workflow is open, and whether its task fails; or how the job ends. */
async function readState(client: InstallationClient, job: OpenJob): Promise<WorkflowState> {
  let status: WorkflowExecutionStatusName | 'GONE';
  try {
    const found = await client.workflow.getHandle(job.workflow_id).describe();
    status = found.status.name;
    if (status === 'RUNNING') return { state: 'open', failing: await readFailingTask(client, found) };
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    status = 'GONE';
  }
  if (status === 'PAUSED') return { state: 'paused' };
  if (status === 'CONTINUED_AS_NEW') return { state: 'open', failing: null };
  return { state: 'ended', ending: await endingOf(client, job, status) };
}

/** A job's ending by the status of its closed workflow. */
async function endingOf(
  client: InstallationClient,
  { kind, workflow_id: workflowId }: OpenJob,
  status: WorkflowExecutionStatusName | 'GONE',
): Promise<ClosedState> {
  if (status === 'CANCELLED') {
    const events = endEvents(kind, { status: 'cancelled' });
    return { status: 'cancelled', stoppedBy: 'cancelled', error: null, events, workflowId, accepted: [] };
  }
  const reason = status === 'TERMINATED' || status === 'FAILED' ? await readCloseReason(client, workflowId) : null;
  const error = { code: `workflow_${status.toLowerCase()}`, message: messageOf(status, reason), retryable: true };
  const events = endEvents(kind, { status: 'failed', error });
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
      return "The job's workflow is no longer in Temporal: its history was deleted, the cluster was replaced, or the database is a copy.";
    default:
      return `The job's workflow closed as ${status} and left the job open${because}`;
  }
}
