import type { Db } from './db.js';

/**
 * Writes one row, and files that need new space: Postgres writes the row in place of the last one,
 * which a full disk allows. Rejects where either fails: with a full disk, on a standby.
 */
export async function proveWritable(db: Db): Promise<void> {
  await db.worker((tx) =>
    Promise.all([
      tx.query('update write_probe set written_at = clock_timestamp()'),
      // Each exported snapshot is a file beside the tables until the end of the transaction.
      tx.query('select pg_export_snapshot() from generate_series(1, 8)'),
    ]),
  );
}
