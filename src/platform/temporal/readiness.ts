import type { Db } from '../db/db.js';
import { schemaProblem, selectApplied, type AppliedMigration } from '../db/migrate.js';
import { exhaustedResource } from '../db/postgres-errors.js';
import { proveWritable } from '../db/write-probe.js';
import { countStuckJobs } from '../../jobs/store/stuck.js';
import type { InstallationClient } from './installation-client.js';
import { createPollers, type Pollers } from './pollers.js';
import { readLiveWorkers } from './worker-reports.js';
import { buildOf, setCurrentCommand } from './worker-versioning.js';

/** A readiness check; `detail`: the problem, or what is worth a look; null: nothing. */
export interface Check {
  name: 'database' | 'migrations' | 'temporal' | 'worker' | 'jobs';
  ok: boolean;
  detail: string | null;
}

const deadlineMs = 2_000;
/** Time for the cause of Temporal's silence. */
const causeMs = 1_200;

/** Age up to which all callers share one result. */
const sharedMs = 1_000;

/** Ends of a worker within a minute that make the service not ready. */
const maxEnds = 3;

/** What a readiness check looks at. */
interface Probed {
  db: Db;
  client: InstallationClient;
  /** The error that says why a call to Temporal failed. */
  explain(cause: Error): Promise<Error>;
  /** Why no workflow can start in the namespace; null: it can. */
  namespaceProblem(): string | null;
  /** How often the service's own worker has ended in the last minute. */
  workerEnds(): number;
}

/** Checks that the database can be written, its migrations, Temporal, and that a worker polls. */
export function createReadiness(probed: Probed): () => Promise<Check[]> {
  let shared: Promise<Check[]> | null = null;
  const forget = () => void (shared = null);
  const pollers = createPollers(probed.client);
  return () => (shared ??= probe(probed, pollers).finally(() => setTimeout(forget, sharedMs).unref()));
}

function probe(probed: Probed, pollers: Pollers): Promise<Check[]> {
  const { db } = probed;
  return Promise.all([
    check('database', deadlineMs, () => proveWritable(db)),
    check('migrations', deadlineMs, () => checkMigrations(db)),
    check('temporal', deadlineMs + causeMs, () => checkTemporal(probed)),
    check('worker', deadlineMs, () => checkWorker(probed, pollers)),
    check('jobs', deadlineMs, () => describeStuckJobs(db)),
  ]);
}

async function check(name: Check['name'], withinMs: number, run: () => Promise<string | null | void>): Promise<Check> {
  try {
    const detail = (await withDeadline(run(), withinMs)) ?? null;
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
async function withDeadline<T>(result: Promise<T>, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${withinMs} ms`)), withinMs);
  });
  return Promise.race([result, timeout]).finally(() => clearTimeout(timer));
}

async function checkMigrations(db: Db): Promise<void> {
  const { problem, missing } = await schemaProblem(await db.worker((tx) => tx.query<AppliedMigration>(selectApplied)));
  if (problem !== null) throw new Error(`the database ${problem}`);
  if (missing.length > 0) throw new Error(`not applied: ${missing.map(({ name }) => name).join(', ')}`);
}

async function checkTemporal({ client, explain, namespaceProblem }: Probed): Promise<void> {
  const { namespace } = client.options;
  const asked = client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.describeNamespace({ namespace }),
  );
  await asked.catch(async (cause: Error) => {
    throw await explain(cause);
  });
  const problem = namespaceProblem();
  if (problem !== null) throw new Error(problem);
}

async function checkWorker({ db, client, workerEnds }: Probed, pollers: Pollers): Promise<void> {
  const ends = workerEnds();
  if (ends >= maxEnds) throw new Error(`the worker has ended ${ends} times in the last minute; see its log`);
  const { own, currentBuild: current } = await client.withDeadline(Date.now() + deadlineMs, pollers);
  if (own.length === 0) {
    throw new Error(
      `no worker of this installation polls the task queue ${client.installation.taskQueue}; start one with "ratchet worker"`,
    );
  }
  const live = await db.worker(readLiveWorkers);
  const builds = own.map(({ deploymentOptions }) => buildOf(deploymentOptions)).filter((build) => live.includes(build));
  if (builds.length === 0) throw new Error('the worker hangs: none has reported in the last seconds');
  // Without a current build, new jobs go to workers without a build.
  if (builds.includes(current)) return;
  const wanted = current ? `workers of build ${current}` : 'workers without a RATCHET_WORKER_BUILD_ID';
  throw new Error(
    `new jobs go to ${wanted}, and none polls. Start one, or run: ${setCurrentCommand(client, builds[0] ?? null)}`,
  );
}
