import type { Event } from '../../contracts/events/schema.js';
import type { Tx } from '../../platform/db/db.js';

/** A stored event. */
export type EventRow = Event & { seq: number; ts: Date };

/** At most `limit` events of the job after the seq `after`, in order. */
export async function readEvents(tx: Tx, jobId: string, after: number, limit: number): Promise<EventRow[]> {
  return tx.query<EventRow>(
    'select seq, type, message, data, ts from events where job_id = $1 and seq > $2 order by seq limit $3',
    [jobId, after, limit],
    'read_events',
  );
}

/** Whether the job has no event after `seq`. */
export async function isAtEnd(tx: Tx, jobId: string, seq: number): Promise<boolean> {
  const [later] = await tx.query('select 1 from events where job_id = $1 and seq > $2 limit 1', [jobId, seq]);
  return later === undefined;
}
