import type { Logger } from 'pino';
import type { Db } from '../db/db.js';
import { schemaProblem, selectApplied, type AppliedMigration } from '../db/migrate.js';
import { exhaustedResource } from '../db/postgres-errors.js';
import { proveWritable } from '../db/write-probe.js';
import { countStuckJobs } from '../../jobs/store/stuck.js';
import type { InstallationClient } from './installation-client.js';

/** Probes may leave them out. */
export const checkNames = ['database', 'migrations', 'temporal', 'worker', 'jobs'] as const;

/** A readiness check; `detail`: the problem, or what is worth a look; null: nothing. */
export interface Check {
  /** `start`: of a process that still starts, in place of all others. */
  name: (typeof checkNames)[number] | 'start';
  ok: boolean;
  detail: string | null;
}

const deadlineMs = 2_000;
/** Time for the cause of Temporal's silence. */
const causeMs = 1_200;

/** Age up to which all callers share one result. */
const sharedMs = 1_000;

/** What a readiness check looks at. */
interface Probed {
  db: Db;
  client: InstallationClient;
  /** The error that says why a call to Temporal failed. */
  explain(cause: Error): Promise<Error>;
  /** Why no workflow can start in the namespace; null: it can. */
  namespaceProblem(): string | null;
  /** Rejects where the worker that the role needs does not poll. */
  checkWorker(): Promise<void>;
  log: Pick<Logger, 'warn'>;
}

export type Readiness = () => Promise<Check[]>;

/** Checks that the database can be written, its migrations, Temporal, and that a worker polls. */
export function createReadiness(probed: Probed): Readiness {
  let shared: Promise<Check[]> | null = null;
  const forget = () => void (shared = null);
  const logChange = changeLog(probed.log);
  const probeAndLog = async () => {
    const checks = await probe(probed);
    logChange(checks);
    return checks;
  };
  return () => (shared ??= probeAndLog().finally(() => setTimeout(forget, sharedMs).unref()));
}

/** Logs the checks when other ones fail than before. */
function changeLog(log: Pick<Logger, 'warn'>): (found: readonly Check[]) => void {
  let logged = '';
  return (found) => {
    const failed = found.filter(({ ok }) => !ok).map(({ name }) => name);
    if (failed.join() === logged) return;
    logged = failed.join();
    const checks = Object.fromEntries(found.map(({ name, ok, detail }) => [name, { ok, detail }]));
    log.warn({ checks }, failed.length > 0 ? 'not ready' : 'ready again');
  };
}

function probe(probed: Probed): Promise<Check[]> {
  const { db } = probed;
  return Promise.all([
    check('database', deadlineMs, () => proveWritable(db)),
    check('migrations', deadlineMs, () => checkMigrations(db)),
    check('temporal', deadlineMs + causeMs, () => checkTemporal(probed)),
    check('worker', deadlineMs, () => probed.checkWorker()),
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
