import type { EventLine } from '../../contracts/events/page.js';
import type { EventRow } from '../../storage/jobs/event-reads.js';
import { idFields, iso } from './view.js';
import type { Frame } from '../server/sse.js';

/** An event as a data line of a stream, or an item of a JSON page. */
export function line(jobId: string, { type, seq, ts, message, data }: EventRow): EventLine {
  return { ...data, type, seq, ts: iso(ts), ...idFields(jobId), message, data };
}

/** An event as a message of a stream. */
export function frame(jobId: string, row: EventRow): Frame {
  return { id: row.seq, event: row.type, data: JSON.stringify(line(jobId, row)) };
}
