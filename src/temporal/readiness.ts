import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Db } from '../storage/db/db.js';
import { migrationNames } from '../storage/db/migrate.js';
import { buildOf, setCurrentCommand } from './worker-versioning.js';
import { taskQueue } from '../../workflows/messages.js';

/** One part that must work before the service is ready; `detail` says what is wrong, null when it is fine. */
export interface Check {
  name: 'database' | 'migrations' | 'temporal' | 'worker';
  ok: boolean;
  detail: string | null;
}

const deadlineMs = 2_000;
/** TaskQueueType.WORKFLOW of Temporal's API. */
const workflowQueue = 1;
/** A worker that polls does so at least once a minute. */
const pollerAgeMs = 70_000;

/** Looks at everything a job needs: the database and its migrations, Temporal, and a worker that polls. */
export function createReadiness(db: Db, client: Client): () => Promise<Check[]> {
  return async () =>
    Promise.all([
      check('database', () => db.ping()),
      check('migrations', () => migrated(db)),
      check('temporal', () => temporalAnswers(client)),
      check('worker', () => workerPolls(client)),
    ]);
}

async function check(name: Check['name'], look: () => Promise<void>): Promise<Check> {
  try {
    await bounded(look());
    return { name, ok: true, detail: null };
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

/** A part that does not answer is as bad as one that refuses. */
async function bounded(answer: Promise<void>): Promise<void> {
  const late = new AbortController();
  const timeout = delay(deadlineMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`no answer within ${deadlineMs} ms`);
  });
  try {
    await Promise.race([answer, timeout]);
  } finally {
    timeout.catch(() => undefined);
    late.abort();
  }
}

async function migrated(db: Db): Promise<void> {
  const rows = await db.worker((tx) => tx.query<{ name: string }>('select name from schema_migrations'));
  const applied = new Set(rows.map((row) => row.name));
  const missing = (await migrationNames()).filter((name) => !applied.has(name));
  if (missing.length > 0) throw new Error(`not applied yet: ${missing.join(', ')}`);
}

async function temporalAnswers(client: Client): Promise<void> {
  const { namespace } = client.options;
  await client.withDeadline(Date.now() + deadlineMs, () => client.workflowService.describeNamespace({ namespace }));
}

async function workerPolls(client: Client): Promise<void> {
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
  // Where no build is the current one, new jobs go to workers that are of none.
  const current = versioningInfo?.currentDeploymentVersion?.buildId ?? null;
  const builds = fresh.map(({ deploymentOptions }) => buildOf(deploymentOptions));
  if (builds.includes(current)) return;
  const wanted = current ? `workers of the build ${current}` : 'workers without a RATCHET_WORKER_BUILD_ID';
  throw new Error(
    `new jobs go to ${wanted}, and none polls: start one, or run: ${setCurrentCommand(client, builds[0] ?? null)}`,
  );
}
