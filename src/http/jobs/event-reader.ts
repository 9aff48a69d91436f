import type { Db } from '../../storage/db/db.js';
import type { JobRef } from '../../storage/jobs/events.js';
import { readEvents } from '../../storage/jobs/event-reads.js';
import { frame } from './event-line.js';
import { createSharedReads } from '../server/shared-reads.js';
import type { Page } from '../server/sse.js';

const pageSize = 100;

/** A job's events after `after`, as frames of a stream. */
export type EventReader = (job: JobRef, after: number) => Promise<Page>;

/** Reads for streams. A notification wakes all streams of a job; equal reads share one query. */
export function createEventReader(db: Db): EventReader {
  const shared = createSharedReads<Page>();
  return ({ orgId, jobId }, after) =>
    shared(`${orgId} ${jobId} ${after}`, async () => {
      const rows = await db.orgApart(orgId, (tx) => readEvents(tx, jobId, after, pageSize));
      return { frames: rows.map((row) => frame(jobId, row)), full: rows.length === pageSize };
    });
}
