import type { Db } from '../storage/db.js';
import type { JobRef } from '../storage/events.js';
import { readEvents } from '../storage/reads.js';
import { frame } from './event-line.js';
import type { Page } from './sse.js';

const pageSize = 100;

/** A job's events after `after`, as frames of a stream. */
export type EventReader = (job: JobRef, after: number) => Promise<Page>;

/**
 * Reads for streams. A notification wakes all of a job's streams at the same moment, and as a rule they want the same: one
 * look serves them all. Nobody joins a look that has begun, for it may have missed what woke the one who comes later.
 */
export function createEventReader(db: Db): EventReader {
  const gathering = new Map<string, Promise<Page>>();
  return ({ orgId, jobId }, after) => {
    const key = `${orgId} ${jobId} ${after}`;
    const joined = gathering.get(key);
    if (joined) return joined;
    const page = new Promise<void>((begin) => setImmediate(begin)).then(async () => {
      gathering.delete(key);
      const rows = await db.org(orgId, (tx) => readEvents(tx, jobId, after, pageSize));
      return { frames: rows.map((row) => frame(jobId, row)), full: rows.length === pageSize };
    });
    gathering.set(key, page);
    return page;
  };
}
