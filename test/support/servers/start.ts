/**
 * The embedded servers of a test run in their own process: jest's global setup lacks our module
 * mapping, and closed standard input ends the servers and removes their folder even if jest is
 * killed.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { pino } from 'pino';
import { startPostgres } from '../../../src/platform/embedded/postgres.js';
import { startTemporal } from '../../../src/platform/embedded/temporal.js';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('usage: servers.ts <folder of the run>');
const log = pino({ level: 'info' }, pino.destination(2));
const dataDir = join(folder, 'data');

const starting = [startPostgres({ dataDir, log }), startTemporal({ dataDir, port: 0, log })] as const;

/** Nothing of a test run outlives it: writes need not reach the disk. */
async function leaveUnsynced(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  for (const setting of ['fsync', 'full_page_writes']) await client.query(`alter system set ${setting} = off`);
  await client.query('select pg_reload_conf()');
  await client.end();
}

async function stopAll(): Promise<void> {
  for (const server of await Promise.allSettled(starting)) {
    if (server.status === 'fulfilled') await server.value.stop();
  }
  rmSync(folder!, { recursive: true, force: true });
}

createInterface({ input: process.stdin }).on('close', () => {
  stopAll().catch((error: Error) => {
    log.error({ err: error }, 'the servers of the tests could not be stopped');
    process.exitCode = 1;
  });
});

// The reader may have ended; then standard input is closed too.
process.stdout.on('error', (error) => log.debug({ err: error }, 'the output has no reader'));
try {
  const [postgres, temporal] = await Promise.all(starting);
  await leaveUnsynced(postgres.url);
  console.log(JSON.stringify({ databaseUrl: postgres.url, temporalAddress: temporal.address }));
} catch (error) {
  log.error((error as Error).message);
  await stopAll();
  process.exit(1);
}
