/**
 * Which jobs in Temporal are those of this database, by its row in `installation`. A copy is the
 * installation itself if it was restored, and another one if the first goes on.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  isGrpcServiceError,
  QueryNotRegisteredError,
  QueryRejectedError,
  WorkflowNotFoundError,
  type Client,
} from '@temporalio/client';
import type { Logger } from 'pino';
import { statusQuery } from '../../../workflows/messages.js';
import { readOrgs } from '../../retention/store/orgs.js';
import type { Db } from '../db/db.js';
import type { Installation } from './installation-client.js';

/** This process must not use this task queue; the message is one line that says what to do. */
export class InstallationError extends Error {
  override readonly name = 'InstallationError';
}

interface InstallationRow extends Installation {
  /** The server of the database, and its number there. */
  place: string;
}

interface StartedJob extends Record<string, unknown> {
  workflow_id: string;
}

/** Longer than a query waits for a worker that kept the workflow and has gone. */
const answerMs = 12_000;
/** Workflows that are asked whether somebody runs them. */
const asked = 5;
/** gRPC codes DEADLINE_EXCEEDED and FAILED_PRECONDITION: nobody has polled for minutes. */
const unanswered = [4, 9];

/** Reads or decides the installation. `wanted`: its task queue by the settings; null: its own. */
export async function identifyInstallation(
  client: Client,
  db: Db,
  log: Logger,
  wanted: string | null,
): Promise<Installation> {
  const place = await readPlace(db);
  const known = await readRow(db, place, wanted);
  const jobs = await startedJobs(db);
  if (known.place === place) return keep(db, known, wanted, jobs);
  const staysWithJobs = jobs.length > 0 && (wanted === null || wanted === known.taskQueue);
  if (!staysWithJobs) return renew(db, log, known, { place, wanted });
  if (await isRun(client, jobs)) {
    // A process of this installation, which started at the same time, has decided.
    const { id, taskQueue, place: now } = await readRow(db, place, wanted);
    if (now === place) return { id, taskQueue };
    throw new InstallationError(
      `The database is a copy of the one of another installation, whose workers run its jobs on the task queue ${known.taskQueue}. To use the copy beside it, set RATCHET_TASK_QUEUE to a name of its own; to replace it, stop its workers first.`,
    );
  }
  await db.worker((tx) => tx.query('update installation set place = $1 where place = $2', [place, known.place]));
  log.warn({ task_queue: known.taskQueue }, 'the database was restored; its jobs go on');
  return { id: known.id, taskQueue: known.taskQueue };
}

/** Unlike its name, it stays with a database that is renamed, and with the files of its server. */
async function readPlace(db: Db): Promise<string> {
  const [row] = await db.worker((tx) =>
    tx.query<{ place: string }>(
      `select (select system_identifier from pg_control_system()) || '/' || oid as place
         from pg_database where datname = current_database()`,
    ),
  );
  return row!.place;
}

async function readRow(db: Db, place: string, wanted: string | null): Promise<InstallationRow> {
  const id = randomBytes(6).toString('hex');
  return db.worker(async (tx) => {
    await tx.query('insert into installation (id, place, task_queue) values ($1, $2, $3) on conflict do nothing', [
      id,
      place,
      wanted ?? defaultQueue(id),
    ]);
    const [row] = await tx.query<InstallationRow & Record<string, unknown>>(
      'select id, place, task_queue as "taskQueue" from installation',
    );
    return row!;
  });
}

const defaultQueue = (id: string) => `ratchet-${id}`;

/** Some jobs that Temporal may run. */
async function startedJobs(db: Db): Promise<StartedJob[]> {
  return db.worker((tx) =>
    tx.query<StartedJob>('select workflow_id from open_jobs(now(), 1000) where workflow_started limit $1', [asked]),
  );
}

/** The task queue may change while no job runs. */
async function keep(
  db: Db,
  { id, taskQueue }: InstallationRow,
  wanted: string | null,
  jobs: readonly StartedJob[],
): Promise<Installation> {
  const next = wanted ?? defaultQueue(id);
  if (next === taskQueue) return { id, taskQueue };
  if (jobs.length > 0) {
    throw new InstallationError(
      `Open jobs are on the task queue ${taskQueue}, and ${wanted === null ? 'without RATCHET_TASK_QUEUE' : 'by RATCHET_TASK_QUEUE'} it would be ${next}: set RATCHET_TASK_QUEUE=${taskQueue} until they have ended.`,
    );
  }
  await db.worker((tx) => tx.query('update installation set task_queue = $1 where id = $2', [next, id]));
  return { id, taskQueue: next };
}

/** Whether a worker answers for one of the workflows. */
async function isRun(client: Client, jobs: readonly StartedJob[]): Promise<boolean> {
  const answers = await Promise.all(
    jobs.map(({ workflow_id }) =>
      client
        .withDeadline(Date.now() + answerMs, () => client.workflow.getHandle(workflow_id).query(statusQuery))
        .then(() => true, isAnswer),
    ),
  );
  return answers.includes(true);
}

/** Whether a worker refused a query. Throws where Temporal did not answer. */
function isAnswer(error: unknown): boolean {
  if (error instanceof QueryNotRegisteredError || error instanceof QueryRejectedError) return true;
  if (error instanceof WorkflowNotFoundError) return false;
  const { cause } = error as Error;
  if (isGrpcServiceError(cause) && unanswered.includes(Number(cause.code))) return false;
  throw error;
}

/**
 * Makes an installation of its own from a copy. Ids of the workflows of its jobs get an ending, so
 * that they name no workflow of the first one: the reconciler closes the open jobs.
 */
async function renew(
  db: Db,
  log: Logger,
  known: InstallationRow,
  { place, wanted }: { place: string; wanted: string | null },
): Promise<Installation> {
  // Processes that start at the same time decide the same.
  const id = createHash('sha256').update(`${known.id} ${place}`).digest('hex').slice(0, 12);
  const taskQueue = wanted ?? defaultQueue(id);
  const orgs = await db.worker(async (tx) => [...(await readOrgs(tx, 'live')), ...(await readOrgs(tx, 'deleted'))]);
  for (const orgId of orgs) await separateJobs(db, orgId, known, `@${id}`);
  await db.worker((tx) =>
    tx.query('update installation set id = $1, place = $2, task_queue = $3 where id = $4', [
      id,
      place,
      taskQueue,
      known.id,
    ]),
  );
  log.warn({ task_queue: taskQueue, copied_from: known.taskQueue }, 'the database is a copy: its open jobs are closed');
  return { id, taskQueue };
}

async function separateJobs(db: Db, orgId: string, known: InstallationRow, suffix: string): Promise<void> {
  await db.org(orgId, async (tx) => {
    // Once another process has renewed the installation, new jobs have ids of their own.
    const [row] = await tx.query('select from installation where id = $1 for share', [known.id]);
    if (!row) return;
    // The first installation sends them.
    await tx.query(`delete from webhooks where status in ('waiting', 'due', 'sending')`);
    await tx.query(
      `update jobs set workflow_id = workflow_id || $1, workflow_suffix = workflow_suffix || $1,
              workflow_started = workflow_started or status in ('running', 'paused')
        where right(workflow_suffix, length($1)) <> $1`,
      [suffix],
    );
  });
}
