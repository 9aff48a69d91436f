/**
 * Identifies the jobs of this database in Temporal, by its row in `installation`. A copy is the
 * same installation if it was restored, and another one if the first goes on.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { WorkflowFailedError, type Client } from '@temporalio/client';
import { TimeoutFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { readOrgs } from '../../retention/store/orgs.js';
import type { Db, Tx } from '../db/db.js';
import type { Installation } from './installation-client.js';

/** This process must not use this task queue; the message is one line that says what to do. */
export class InstallationError extends Error {
  override readonly name = 'InstallationError';
}

interface InstallationRow extends Installation {
  /** The server of the database, and its number there. */
  place: string;
}

/** Longer than a worker that polls takes to answer. */
const probeMs = 10_000;
/** Rows of a statement, which ends within the time limit of any. */
const batch = 5_000;

/** Reads or decides the installation. `wanted`: its task queue by the settings; null: its own. */
export async function identifyInstallation(
  client: Client,
  db: Db,
  log: Logger,
  wanted: string | null,
): Promise<Installation> {
  const place = await readPlace(db);
  const known = await readRow(db, place, wanted);
  if (known.place === place) return keep(db, known, wanted);
  if (wanted !== null && wanted !== known.taskQueue) return renew(db, log, known, { place, wanted });
  if (!(await isPolled(client, known.taskQueue))) {
    await db.worker((tx) => tx.query('update installation set place = $1 where place = $2', [place, known.place]));
    log.warn({ task_queue: known.taskQueue }, 'the database was restored; its jobs go on');
    return { id: known.id, taskQueue: known.taskQueue };
  }
  // A process of this installation, which started at the same time, may have decided.
  const { id, taskQueue, place: now } = await readRow(db, place, wanted);
  if (now === place) return { id, taskQueue };
  if (!(await hasStartedJob(db))) return renew(db, log, known, { place, wanted });
  throw new InstallationError(
    `The database is a copy of the one of another installation, whose workers poll the task queue ${known.taskQueue}. To use the copy beside it, set RATCHET_TASK_QUEUE to a name of its own; to replace it, stop its workers first.`,
  );
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

/** Whether Temporal may run a job. */
async function hasStartedJob(db: Db): Promise<boolean> {
  const query = 'select from open_jobs(now(), 1000) where workflow_started limit 1';
  return (await db.worker((tx) => tx.query(query))).length > 0;
}

/** The task queue may change while no job runs. */
async function keep(db: Db, { id, taskQueue }: InstallationRow, wanted: string | null): Promise<Installation> {
  const next = wanted ?? defaultQueue(id);
  if (next === taskQueue) return { id, taskQueue };
  if (await hasStartedJob(db)) {
    throw new InstallationError(
      `Open jobs are on the task queue ${taskQueue}, and ${wanted === null ? 'without RATCHET_TASK_QUEUE' : 'by RATCHET_TASK_QUEUE'} it would be ${next}: set RATCHET_TASK_QUEUE=${taskQueue} until they have ended.`,
    );
  }
  await db.worker((tx) => tx.query('update installation set task_queue = $1 where id = $2', [next, id]));
  return { id, taskQueue: next };
}

/** Whether a worker polls a task queue. Throws where Temporal does not answer. */
async function isPolled(client: Client, taskQueue: string): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + 2 * probeMs, () =>
      client.workflow.execute('probeWorkflow', {
        workflowId: `probe-${randomUUID()}`,
        taskQueue,
        workflowExecutionTimeout: probeMs,
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowFailedError && error.cause instanceof TimeoutFailure) return false;
    throw error;
  }
}

/**
 * Makes an installation of its own from a copy. Ids of the workflows of its jobs get an ending, so
 * that they name no workflow of the first one: the reconciler closes the open jobs. Schedules are
 * paused.
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
  log.warn(
    { task_queue: taskQueue, copied_from: known.taskQueue },
    'the database is a copy: its open jobs are closed, and its schedules paused',
  );
  return { id, taskQueue };
}

async function separateJobs(db: Db, orgId: string, known: InstallationRow, suffix: string): Promise<void> {
  const separateSome = (tx: Tx) =>
    tx.query(
      `update jobs set workflow_id = workflow_id || $1, workflow_suffix = workflow_suffix || $1,
              workflow_started = workflow_started or status in ('running', 'paused')
        where id in (select id from jobs where right(workflow_suffix, length($1)) <> $1 limit $2) returning 1`,
      [suffix, batch],
    );
  for (let isDone = false; !isDone;)
    isDone = await db.org(orgId, async (tx) => {
      // Once another process has renewed the installation, new jobs have ids of their own.
      const [row] = await tx.query('select from installation where id = $1 for share', [known.id]);
      if (!row) return true;
      // The first installation goes on with them; a person resumes those of the copy.
      await tx.query(`update schedules set paused = true, version = version + 1 where not paused`);
      await tx.query(`delete from schedule_runs where status = 'due'`);
      // The first installation sends them.
      await tx.query(`delete from webhooks where status in ('waiting', 'due', 'sending')`);
      return (await separateSome(tx)).length < batch;
    });
}
