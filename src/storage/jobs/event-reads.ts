import type { Event, EventType } from '../../contracts/events/schema.js';
import type { Tx } from '../db/db.js';

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

/** Whether the job has an event of one of these types up to `seq`. */
export async function hasEventBefore(
  tx: Tx,
  jobId: string,
  seq: number,
  types: readonly EventType[],
): Promise<boolean> {
  const [row] = await tx.query('select 1 from events where job_id = $1 and seq <= $2 and type = any($3) limit 1', [
    jobId,
    seq,
    types,
  ]);
  return row !== undefined;
}
