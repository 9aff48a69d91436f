import { endEvents } from '../../src/core/events/jobs.js';
import { finishJob } from '../../src/jobs/store/decisions/record.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { Tx } from '../../src/platform/db/db.js';

/** Closes the job of a deployment that is live; returns whether this call did it. */
export function closeLive(tx: Tx, job: JobRef): Promise<boolean> {
  return finishJob(tx, job, {
    status: 'completed',
    stoppedBy: null,
    error: null,
    accepted: [],
    events: endEvents('deployment', { status: 'completed' }, { note: 'ready and live' }),
  });
}
