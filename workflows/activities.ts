/** Activities as workflows call them: one block for each time-out class. */
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';

/** Retries of activities that only use Postgres: it is back soon, or not for a while. */
const databaseRetry = { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' } as const;
/** Retries of activities that also call containers or models. */
const networkRetry = { initialInterval: '500 milliseconds', maximumInterval: '5 seconds' } as const;
/** A worker that was killed is noticed this soon. */
const heartbeatTimeout = '10 seconds';

/**
 * One transaction whose outcome must be known, also when the job is cancelled meanwhile. It runs in
 * the workflow task that asks for it, so a command waits for no second task and no slot.
 */
const decisiveTransaction = proxyLocalActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: databaseRetry,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** A request to Temporal itself, which would wait for the workflow task that asks for it. */
const requests = proxyActivities<Activities>({ startToCloseTimeout: '30 seconds', retry: networkRetry });

/** Probes of containers and models: each may take a minute. */
const probes = proxyActivities<Activities>({
  startToCloseTimeout: '3 minutes',
  heartbeatTimeout,
  retry: networkRetry,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/**
 * Rollouts and proposals: one activity runs many and records each answer at once, so the heartbeat
 * bounds it. A cancellation lets those in flight finish; a job that ends stops them by its control.
 */
const recordedWork = proxyActivities<Activities>({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout,
  retry: databaseRetry,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** Waits for another job, or for what callers report, of any length. */
const waits = proxyActivities<Activities>({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout,
  retry: databaseRetry,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** Attempts to deliver a webhook: after 5 s, 15 s, 45 s … up to 3 hours, for a day. */
const webhookAttempts = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '24 hours',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 3, maximumInterval: '3 hours' },
});

/** A minute of judging, and what its last calls take. */
const judging = proxyActivities<Activities>({
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout,
  retry: databaseRetry,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

export const { deliverWebhook } = webhookAttempts;
export const { record, stopWork, finish, openGateEvaluation, readShownJob } = decisiveTransaction;
export const { awaitsTraffic, readTimeLeft, recordIgnored, isDelivered, abandonWebhook } = decisiveTransaction;
export const { snapshotSource, nextIncumbent, nextRepeats, concludeGate, promoteDeployment, closeDeployment } =
  decisiveTransaction;
export const { readChildJob, advanceMigration, closeMigration, advanceCheckup, closeCheckup } = decisiveTransaction;
export const { awaitChildJob, followCanary } = waits;
export const { requestCancellation, openScheduledRun } = requests;
export const { prepare } = probes;
export const { judgeAnswers } = judging;
export const { drive } = recordedWork;
