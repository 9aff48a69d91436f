import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { JobRow } from '../store/jobs.js';
import { JobGoneError } from '../store/events.js';
import { deleteJob } from '../../retention/store/delete.js';
import { markJob, type Obstacle } from '../../retention/store/marks.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { ApiError } from '../../platform/http/server/errors.js';
import { problems } from '../../platform/http/server/schema.js';
import type { JobRoute } from './kind.js';

/** A large job is deleted for longer than a caller may wait. */
const waitMs = 5_000;

export function registerDelete(
  app: App,
  deps: HttpDeps,
  { path, params, tags, name, noun, find }: JobRoute<unknown>,
): void {
  app.delete(
    path,
    {
      schema: {
        tags,
        operationId: `delete${name}`,
        summary: `Delete ${noun} that has ended, with all its data`,
        description:
          'It is gone for all readers at once. Its rows, events, traces, texts and history in Temporal are deleted, which takes longer than the answer where there are many.',
        params,
        response: { 204: z.undefined().describe('Deleted.'), ...problems(404, 409) },
      },
    },
    async (request, reply) => {
      await deleteEndedJob(deps, await find(request));
      return reply.code(204).send();
    },
  );
}

/** Hides an ended job and deletes it. What this process leaves undone, a worker does. */
async function deleteEndedJob({ db, commander, log }: HttpDeps, job: JobRow<unknown>): Promise<void> {
  const obstacle = await db
    .org(job.orgId, (tx) => markJob(tx, job))
    .catch((error: unknown) => {
      // Another request deleted it meanwhile.
      if (error instanceof JobGoneError) return null;
      throw error;
    });
  if (obstacle) throw refusal(obstacle);
  const deletion = deleteJob(db, job, (runs) => commander.deleteHistories(runs)).catch((err: Error) =>
    log.warn({ err, job_id: job.jobId }, 'job not deleted yet; a worker will'),
  );
  await Promise.race([deletion, sleep(waitMs, undefined, { ref: false })]);
}

function refusal(obstacle: Obstacle): ApiError {
  if ('status' in obstacle) {
    const { status } = obstacle;
    const detail = `The job is ${status} and cannot be deleted. Cancel it first.`;
    return new ApiError(409, 'invalid_state', detail, { extra: { current_status: status } });
  }
  const { neededBy, id } = obstacle;
  return new ApiError(409, 'in_use', `The job is used by ${neededBy} ${id}. Delete that ${neededBy} first.`, {
    extra: { used_by: id },
  });
}
