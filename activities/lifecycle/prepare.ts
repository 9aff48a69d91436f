import { Context } from '@temporalio/activity';
import { ContainerError } from '../../src/clients/container/client.js';
import type { JobProgress } from '../../src/core/jobs/progress.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import type { Message } from '../../src/core/prompts/message.js';
import type { NewEvent } from '../../src/core/events/event.js';
import type { Tx } from '../../src/platform/db/db.js';
import { appendEvents, type ControlRow, type JobRef } from '../../src/jobs/store/events.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import { readUsedTime } from '../../src/jobs/store/step-log.js';
import type { ActivityDeps } from '../deps.js';
import { jobFailure } from '../errors.js';
import { withHeartbeat } from '../heartbeat.js';
import type { AskedContainer } from './kind.js';
import { activitiesOf } from './kinds.js';
import { checkModels } from './preflight.js';
import { containerKey, lockOpenJob } from '../jobs/spec.js';
import { lockOwnOpenJob } from '../own-job.js';
import { Watch } from '../watch/watch.js';
import { watchedDeps } from '../watch/watched-deps.js';

/** The container errors that a later try may not meet. */
const transientErrors = new Set(['container_unreachable', 'container_busy', 'container_timeout', 'container_error']);

/** Below the time that Temporal gives an attempt, so that its failure has a name. */
const lineMs = 2 * 60_000;

export function prepareActivities(given: ActivityDeps) {
  return {
    /** The running time that is left to a prepared job, in milliseconds; null: no limit. */
    readTimeLeft: ({ orgId, jobId }: JobRef): Promise<number | null> =>
      given.db.org(orgId, async (tx) => {
        const spec = await readSpec<JobSpec>(tx, jobId);
        if (spec.kind === 'evaluation') return spec.timeoutS * 1_000;
        const { maxMinutes } = spec.budget;
        return maxMinutes == null ? null : maxMinutes * 60_000 - (await readUsedTime(tx, jobId));
      }),

    /** The steps before a job's first rollout; a repeated call finds what the first one stored. */
    prepare: (job: JobRef): Promise<JobProgress> => {
      const watch = new Watch(given, job, 'prepare', { lineMs });
      const deps = watchedDeps(given, watch.line);
      const { db } = deps;
      return withHeartbeat(async () => {
        const { run, spec, key } = await db.org(job.orgId, async (tx) => {
          const { run } = await lockOwnOpenJob(tx, job);
          const spec = await readSpec<JobSpec>(tx, job.jobId);
          return { run, spec, key: await containerKey(tx, deps.secretKey, job, spec) };
        });
        const asked = { key, run, signal: Context.current().cancellationSignal };
        const prompt = await probe(deps, job, spec, asked);
        const kind = activitiesOf(spec);
        return db.org(job.orgId, async (tx) => {
          const { run } = await begin(tx, job, kind.startEvents(spec, prompt));
          return kind.begin(tx, job, spec, { run, prompt });
        });
      }, watch);
    },
  };
}

/** Checks container and models, and finds the prompt of the baseline; null: it is not known. */
async function probe(deps: ActivityDeps, job: JobRef, spec: JobSpec, asked: AskedContainer): Promise<Message[] | null> {
  const { container } = deps;
  try {
    if (spec.container) await container.health(spec.container.url, asked.key, asked.signal);
    await checkModels(deps, job, spec, asked.signal);
    return (await activitiesOf(spec).findPrompt?.(deps, spec, asked)) ?? null;
  } catch (error) {
    if (error instanceof ContainerError) throw jobFailure(error.code, error.message, transientErrors.has(error.code));
    throw error;
  }
}

async function begin(tx: Tx, job: JobRef, events: NewEvent[]): Promise<ControlRow> {
  const row = await lockOpenJob(tx, job);
  await Promise.all([
    tx.query(
      // An operator may have started the workflow of a pending job.
      `update jobs set started_at = coalesce(started_at, now()), workflow_started = true,
              status = case status when 'pending' then 'running' else status end where id = $1`,
      [job.jobId],
    ),
    appendEvents(tx, job, events),
  ]);
  return row;
}
