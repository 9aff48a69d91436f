import type { JobRow } from '../../storage/jobs/jobs.js';
import { deleteRows, prepareDeletion, type Obstacle } from '../../storage/jobs/delete.js';
import { JobGoneError } from '../../storage/jobs/events.js';
import { TemporalUnavailableError } from '../../temporal/commands.js';
import type { HttpDeps } from '../deps.js';
import { ApiError } from '../server/errors.js';
import { unavailable } from './control.js';

/**
 * Deletes an ended job: first its histories in Temporal, then its rows. A repetition after a crash
 * finds the rows and finishes.
 */
export async function deleteJob({ db, commander }: HttpDeps, job: JobRow<unknown>): Promise<void> {
  const { orgId } = job;
  try {
    const prepared = await db.org(orgId, (tx) => prepareDeletion(tx, job));
    if (!('runs' in prepared)) throw refusal(prepared);
    await commander.deleteHistories(job, prepared.runs);
    await db.org(orgId, (tx) => deleteRows(tx, job.jobId));
  } catch (error) {
    // Another request deleted it meanwhile.
    if (error instanceof JobGoneError) return;
    if (!(error instanceof TemporalUnavailableError)) throw error;
    const detail = 'Temporal is unreachable, so the history of the job was not deleted. Repeat the request.';
    throw unavailable('temporal_unavailable', detail, error);
  }
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
