import {
  makeTelemetryFilterString,
  MetricsBuffer,
  Runtime,
  Worker,
  type InjectedSinks,
  type WorkflowBundlePath,
} from '@temporalio/worker';
import { ApplicationFailure } from '@temporalio/common';
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { createActivities } from '../../activities/index.js';
import { failActivity } from '../../activities/unhandled.js';
import type { ActivityDeps } from '../../activities/deps.js';
import type { OwnershipSinks } from '../../workflows/ownership.js';
import { collectSdkMetrics } from './metrics/sdk.js';
import { connectWorker, dataConverter, type TemporalTarget } from '../platform/temporal/connection.js';
import type { InstallationClient } from '../platform/temporal/installation-client.js';
import { guardQueue, type QueueGuard } from '../platform/temporal/queue-guard.js';
import { identityOf } from '../platform/temporal/pollers.js';
import { announceBuild, pinnedTo } from '../platform/temporal/worker-versioning.js';
import { startReporting } from '../platform/temporal/worker-reports.js';
import { startReconciler } from '../platform/temporal/reconciler.js';
import { startRetention, type RetentionOptions } from '../platform/temporal/retention.js';

/** A graceful shutdown waits this long for rollouts in flight; the others run again. */
const graceMs = 10_000;
const activitySlots = 500;
const workflowSlots = 100;

export interface RunningWorker {
  /** Whether it asks Temporal for tasks. */
  isPolling(): boolean;
  /** Slots for tasks by type. */
  slots(): { type: string; used: number; total: number }[];
  /** Takes no more work, waits for work in flight within the grace period, and closes. */
  stop(): Promise<void>;
  /** Rejects when the worker fails. */
  ended: Promise<void>;
}

export interface WorkerOptions {
  target: TemporalTarget;
  codecKey: Buffer | null;
  /** The worker's build; null: without worker versioning. */
  buildId: string | null;
  deps: Omit<ActivityDeps, 'draining'>;
  client: InstallationClient;
  log: Logger;
  /** The workflow bundle; default: the bundle of the build. */
  bundle?: WorkflowBundlePath;
  /** Called for each job whose workflow tasks begin to fail. */
  onStuck(cause: string): void;
  /** Default: everything is kept. */
  retention?: RetentionOptions;
}

/** Runs the worker role: workflows, activities, the reconciler and the retention. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { client, log } = options;
  const draining = new AbortController();
  // Every running job listens to it.
  setMaxListeners(0, draining.signal);
  const deps: ActivityDeps = { ...options.deps, draining: draining.signal };
  const { connection, namespace } = await connectWorker(options.target);
  const bundle = options.bundle ?? { codePath: fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url)) };
  const { installation } = client;
  const guard = guardQueue(client, log);
  const worker = await Worker.create({
    connection,
    namespace,
    identity: identityOf(installation),
    taskQueue: installation.taskQueue,
    workflowBundle: withSettings(bundle, { installation: installation.id, encodesFailures: options.codecKey !== null }),
    interceptors: { activity: [() => ({ inbound: guard.activities })] },
    sinks: sinksOf(guard),
    activities: createActivities(deps),
    dataConverter: dataConverter(options.codecKey),
    ...(options.buildId && { workerDeploymentOptions: pinnedTo(installation, options.buildId) }),
    maxConcurrentActivityTaskExecutions: activitySlots,
    maxConcurrentWorkflowTaskExecutions: workflowSlots,
    maxHeartbeatThrottleInterval: '1 second',
    shutdownGraceTime: graceMs,
    shutdownForceTime: graceMs + 5_000,
  });
  const ended = worker.run().finally(() => connection.close());
  // An unhandled rejection would end the process before a caller awaits `ended`.
  ended.catch((err: Error) => log.error({ err }, 'worker failed'));
  if (options.buildId) announceBuild(client, options.buildId, log, draining.signal);
  const stopReporting = await startReporting(deps.db, log, options.buildId);
  const reconciler = startReconciler({
    client,
    db: deps.db,
    log,
    onClosed: deps.metrics.jobEnded,
    onStuck: options.onStuck,
  });
  const retention = startRetention(client, deps.db, log, options.retention);
  return {
    ended,
    isPolling() {
      const { runState, workflowPollerState, activityPollerState } = worker.getStatus();
      return runState === 'RUNNING' && workflowPollerState === 'POLLING' && activityPollerState === 'POLLING';
    },
    slots() {
      const { numInFlightActivities, numInFlightWorkflowActivations } = worker.getStatus();
      return [
        { type: 'activity', used: numInFlightActivities, total: activitySlots },
        { type: 'workflow', used: numInFlightWorkflowActivations, total: workflowSlots },
      ];
    },
    async stop() {
      draining.abort();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      void guard.stop();
      await Promise.all([reconciler.stop(), retention.stop()]);
      await ended.finally(stopReporting);
    },
  };
}

/** Settings of workflow code; see `workflows/ownership` and `workflows/failure-converter`. */
interface WorkflowSettings {
  installation: string;
  encodesFailures: boolean;
}

/**
 * A bundle with settings. They are a prefix, as the SDK passes workflow code no setting of its
 * worker; it may go when the SDK does.
 */
function withSettings({ codePath }: WorkflowBundlePath, settings: WorkflowSettings): { code: string } {
  return { code: `Object.assign(globalThis, ${JSON.stringify(settings)});${readFileSync(codePath, 'utf8')}` };
}

function sinksOf(guard: QueueGuard): InjectedSinks<OwnershipSinks> {
  return { ownership: { refused: { fn: (_info, owner) => guard.refused(owner), callDuringReplay: true } } };
}

const reportedByUs = ['Workflow failed', 'Failed to process Workflow Activation'];

/**
 * What the SDK says at each attempt at a failing workflow task, at the end of each failed job, and
 * of the fault that ends it. The reconciler reports the former once, and the activity that ends a
 * job the others. Nothing else reports those of webhooks.
 */
export function isReported(message: string, { workflowType, error }: { workflowType?: unknown; error?: unknown }) {
  if (workflowType === 'webhookWorkflow') return false;
  const isFault = error instanceof ApplicationFailure && error.nonRetryable === true;
  return reportedByUs.includes(message) || (message === 'Activity failed' && isFault);
}

/** Updates of the SDK's metrics in a second; those beyond are lost, with a line of the log. */
const maxUpdates = 50_000;

/**
 * Forwards the log of Temporal's core to ours, and its metrics where they are served. Call it once,
 * before the first connection.
 */
export function installRuntime(log: Logger, isMeasured = true): void {
  const buffer = isMeasured ? new MetricsBuffer({ maxBufferSize: maxUpdates, useSecondsForDurations: true }) : null;
  if (buffer) collectSdkMetrics(buffer);
  const level =
    (name: 'trace' | 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, meta: object = {}) =>
      log[isReported(message, meta) ? 'debug' : name](meta, message);
  Runtime.install({
    logger: {
      log: (name, message, meta) => level(name.toLowerCase() as 'info')(message, meta),
      trace: level('trace'),
      debug: level('debug'),
      info: level('info'),
      warn: level('warn'),
      error: level('error'),
    },
    // Temporal's core warns of each activity that ends after its cancelled workflow; that is
    // expected.
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) },
      ...(buffer && { metrics: { buffer } }),
    },
    shutdownSignals: [],
  });
}

/**
 * Fails the activity that a rejection comes from; any other ends the process, as an exception does.
 * Let nothing else listen to `unhandledRejection`.
 */
export function handleRejections(log: Logger): void {
  process.on('unhandledRejection', (error) => {
    if (!failActivity(error)) throw error;
    log.error({ err: error }, 'an activity left a rejection unhandled, and fails');
  });
}

/** Undoes `installRuntime` when no worker has used it; workers do so when they stop. */
export function uninstallRuntime(): Promise<void> {
  return Runtime.instance().shutdown();
}
