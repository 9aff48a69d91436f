import type { Db } from './db.js';

/** Writes one row; rejects where Postgres cannot write: with a full disk, on a standby. */
export async function proveWritable(db: Db): Promise<void> {
  await db.worker((tx) => tx.query('update write_probe set written_at = clock_timestamp()'));
}
