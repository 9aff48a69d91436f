import type { Client } from '@temporalio/client';
import type { Db } from '../db/db.js';
import { schemaProblem, selectApplied, type AppliedMigration } from '../db/migrate.js';
import { exhaustedResource } from '../db/postgres-errors.js';
import { proveWritable } from '../db/write-probe.js';
import { countStuckJobs } from '../../jobs/store/stuck.js';
import { readLiveWorkers } from './worker-reports.js';
import { buildOf, setCurrentCommand } from './worker-versioning.js';
import { taskQueue } from '../../../workflows/messages.js';

/** A readiness check; `detail`: the problem, or what is worth a look; null: nothing. */
export interface Check {
  name: 'database' | 'migrations' | 'temporal' | 'worker' | 'jobs';
  ok: boolean;
  detail: string | null;
}

const deadlineMs = 2_000;
/** TaskQueueType.WORKFLOW of Temporal's API. */
const workflowQueue = 1;
/** A worker polls at least once a minute. */
const pollerAgeMs = 70_000;

/** Age up to which all callers share one result. */
const sharedMs = 1_000;

/** Ends of a worker within a minute that make the service not ready. */
const maxEnds = 3;

/**
 * Checks that the database can be written, its migrations, Temporal, and that a worker polls.
 * `workerEnds`: how often the service's own worker has ended in the last minute.
 */
export function createReadiness(db: Db, client: Client, workerEnds = () => 0): () => Promise<Check[]> {
  let shared: Promise<Check[]> | null = null;
  const forget = () => void (shared = null);
  return () => (shared ??= probe(db, client, workerEnds()).finally(() => setTimeout(forget, sharedMs).unref()));
}

function probe(db: Db, client: Client, workerEnds: number): Promise<Check[]> {
  return Promise.all([
    check('database', () => proveWritable(db)),
    check('migrations', () => checkMigrations(db)),
    check('temporal', () => checkTemporal(client)),
    check('worker', () => checkWorker(db, client, workerEnds)),
    check('jobs', () => describeStuckJobs(db)),
  ]);
}

async function check(name: Check['name'], run: () => Promise<string | null | void>): Promise<Check> {
  try {
    const detail = (await withDeadline(run())) ?? null;
    return { name, ok: true, detail };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const exhausted = exhaustedResource(error);
    return { name, ok: false, detail: exhausted ? `out of ${exhausted}: ${message}` : message };
  }
}

/** Names stuck jobs. One job is not the service, which stays ready. */
async function describeStuckJobs(db: Db): Promise<string | null> {
  const stuck = await db.worker(countStuckJobs);
  return stuck.length === 0 ? null : `stuck: ${stuck.map(({ cause, count }) => `${count} by ${cause}`).join(', ')}`;
}

/** Rejects where a check takes longer than the deadline. */
async function withDeadline<T>(result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
  });
  return Promise.race([result, timeout]).finally(() => clearTimeout(timer));
}

async function checkMigrations(db: Db): Promise<void> {
  const { problem, missing } = await schemaProblem(await db.worker((tx) => tx.query<AppliedMigration>(selectApplied)));
  if (problem !== null) throw new Error(`the database ${problem}`);
  if (missing.length > 0) throw new Error(`not applied: ${missing.map(({ name }) => name).join(', ')}`);
}

async function checkTemporal(client: Client): Promise<void> {
  const { namespace } = client.options;
  await client.withDeadline(Date.now() + deadlineMs, () => client.workflowService.describeNamespace({ namespace }));
}

async function checkWorker(db: Db, client: Client, ends: number): Promise<void> {
  if (ends >= maxEnds) throw new Error(`the worker has ended ${ends} times in the last minute; see its log`);
  const { pollers, versioningInfo } = await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: workflowQueue,
    }),
  );
  const seenAt = (poller: { lastAccessTime?: { seconds?: unknown } | null }) =>
    Number(poller.lastAccessTime?.seconds ?? 0) * 1_000;
  const fresh = (pollers ?? [])
    .filter((poller) => Date.now() - seenAt(poller) < pollerAgeMs)
    .sort((a, b) => seenAt(b) - seenAt(a));
  if (fresh.length === 0) {
    throw new Error(`no worker polls the task queue ${taskQueue}; start one with "ratchet worker"`);
  }
  const live = await db.worker(readLiveWorkers);
  const builds = fresh
    .map(({ deploymentOptions }) => buildOf(deploymentOptions))
    .filter((build) => live.includes(build));
  if (builds.length === 0) throw new Error('the worker hangs: none has reported in the last seconds');
  // Without a current build, new jobs go to workers without a build.
  const current = versioningInfo?.currentDeploymentVersion?.buildId ?? null;
  if (builds.includes(current)) return;
  const wanted = current ? `workers of build ${current}` : 'workers without a RATCHET_WORKER_BUILD_ID';
  throw new Error(
    `new jobs go to ${wanted}, and none polls. Start one, or run: ${setCurrentCommand(client, builds[0] ?? null)}`,
  );
}
