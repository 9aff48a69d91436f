import { expect, test } from '@jest/globals';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { connect } from '../../../src/platform/db/db.js';
import { migrate } from '../../../src/platform/db/migrate.js';
import { proveWritable } from '../../../src/platform/db/write-probe.js';
import { startPostgres } from '../../../src/platform/embedded/postgres.js';

const log = pino({ level: 'silent' });

test('the probe needs new files, so it fails where the folder of the server takes none', async () => {
  const postgres = await startPostgres({ dataDir: mkdtempSync(join(tmpdir(), 'ratchet-probe-')), log });
  try {
    await migrate(postgres.url, log);
    const admin = new pg.Client(postgres.url);
    await admin.connect();
    const { rows } = await admin.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
    await admin.end();
    const snapshots = join(rows[0]!.folder, 'pg_snapshots');
    const db = connect(postgres.url, log, 1);
    try {
      await proveWritable(db);
      chmodSync(snapshots, 0o500);
      await expect(proveWritable(db)).rejects.toThrow(/pg_snapshots/);
      chmodSync(snapshots, 0o700);
      await proveWritable(db);
    } finally {
      await db.close();
    }
  } finally {
    await postgres.stop();
  }
});
