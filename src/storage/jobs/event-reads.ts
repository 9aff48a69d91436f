import type { Tx } from '../db/db.js';

/** An event as it is stored; `data` holds the specification's fields. */
export interface EventRow extends Record<string, unknown> {
  seq: number;
  type: string;
  message: string;
  data: Record<string, unknown>;
  ts: Date;
}

/** The job's events after `after`, at most `limit`, in order. */
export async function readEvents(tx: Tx, jobId: string, after: number, limit: number): Promise<EventRow[]> {
  return tx.query<EventRow>(
    'select seq, type, message, data, ts from events where job_id = $1 and seq > $2 order by seq limit $3',
    [jobId, after, limit],
    'read_events',
  );
}

/** Whether the last event of a closed job stands at or before `seq`: there is nothing more to come. */
export async function isAtEnd(tx: Tx, jobId: string, seq: number, terminalTypes: readonly string[]): Promise<boolean> {
  const [row] = await tx.query('select 1 from events where job_id = $1 and seq <= $2 and type = any($3) limit 1', [
    jobId,
    seq,
    terminalTypes,
  ]);
  return row !== undefined;
}
