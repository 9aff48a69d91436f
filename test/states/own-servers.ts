import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startPostgres } from '../../src/embedded/postgres.js';
import { startTemporal } from '../../src/embedded/temporal.js';
import type { Servers } from './world.js';

/** Runs `work` on its own Postgres and Temporal, in a temporary folder. */
export async function withServers<T>(work: (servers: Servers) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-states-'));
  // As root, Postgres runs as another user, who needs access to this folder.
  chmodSync(folder, 0o755);
  const dataDir = join(folder, 'data');
  const log = pino({ level: 'warn' }, pino.destination(2));
  const stops = [() => Promise.resolve(rmSync(folder, { recursive: true, force: true }))];
  try {
    const postgres = await startPostgres({ dataDir, log });
    stops.push(() => postgres.stop());
    const temporal = await startTemporal({ dataDir, port: 0, log });
    stops.push(() => temporal.stop());
    return await work({ databaseUrl: postgres.url, temporalAddress: temporal.address });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
