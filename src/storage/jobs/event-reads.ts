import type { Event, EventOf, EventType } from '../../contracts/events/schema.js';
import { acceptanceKeys } from '../../core/events/search.js';
import type { Tx } from '../db/db.js';

/** An event as it is stored. */
export type EventRow = Event & { seq: number; ts: Date };

/** At most `limit` events of the job after the seq `after`, in order. */
export async function readEvents(tx: Tx, jobId: string, after: number, limit: number): Promise<EventRow[]> {
  return tx.query<EventRow>(
    'select seq, type, message, data, ts from events where job_id = $1 and seq > $2 order by seq limit $3',
    [jobId, after, limit],
    'read_events',
  );
}

/** Whether an event of one of these types stands at or before `seq`. */
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

/** The event that decided a candidate. */
export type AcceptanceEvent = EventOf<'candidate_accepted' | 'candidate_rejected'>;

/** The events that decided these candidates, by lever version; an undecided candidate has none. */
export async function readAcceptanceEvents(
  tx: Tx,
  jobId: string,
  versions: readonly number[],
): Promise<Map<number, AcceptanceEvent>> {
  const keys = versions.flatMap((version) => {
    const { accepted, rejected } = acceptanceKeys(version);
    return [[accepted, version] as const, [rejected, version] as const];
  });
  const versionOf = new Map(keys);
  const rows = await tx.query<AcceptanceEvent & { key: string }>(
    'select key, type, message, data from events where job_id = $1 and key = any($2)',
    [jobId, [...versionOf.keys()]],
  );
  return new Map(rows.map(({ key, ...event }) => [versionOf.get(key)!, event as AcceptanceEvent]));
}
