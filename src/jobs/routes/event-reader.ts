import type { EventLine } from '../../contracts/events/page.js';
import type { Db } from '../../platform/db/db.js';
import { createGroupCommit } from '../../platform/db/group-commit.js';
import type { JobRef } from '../store/events.js';
import { readEvents, type EventRow } from '../store/event-reads.js';
import { createSharedReads } from '../../util/shared-reads.js';
import type { Frame, Page } from '../../platform/http/server/sse.js';
import { idFields, iso } from './view.js';

const pageSize = 100;
/** The pages of one round trip. */
const most = 16;

/** `oldestAt`: the time of the first event; null: no event. */
interface EventPage extends Page {
  oldestAt: Date | null;
}

/** A job's events after `after`, as frames of a stream. */
type EventReader = (job: JobRef, after: number) => Promise<EventPage>;

const readers = new WeakMap<Db, EventReader>();

/** The reader of a database, which the streams of all kinds of job share. */
export function eventReaderOf(db: Db): EventReader {
  const reader = readers.get(db) ?? createEventReader(db);
  readers.set(db, reader);
  return reader;
}

/**
 * Reads for streams. A notification wakes all streams of a job: equal reads share one query, and
 * those of an organization one round trip.
 */
function createEventReader(db: Db): EventReader {
  const shared = createSharedReads<EventPage>();
  const together = createGroupCommit(db, most);
  return ({ orgId, jobId }, after) =>
    shared(`${orgId} ${jobId} ${after}`, async () => {
      const rows = await readEvents(together.tx(orgId, jobId), jobId, after, pageSize);
      const frames = rows.map((row) => frame(jobId, row));
      return { frames, full: rows.length === pageSize, oldestAt: rows[0]?.ts ?? null };
    });
}

/** An event as a data line of a stream, or an item of a JSON page. */
export function line(jobId: string, { type, seq, ts, message, data }: EventRow): EventLine {
  return { ...data, type, seq, ts: iso(ts), ...idFields(jobId), message, data };
}

/** An event as a message of a stream. */
function frame(jobId: string, row: EventRow): Frame {
  return { id: row.seq, event: row.type, data: JSON.stringify(line(jobId, row)) };
}
