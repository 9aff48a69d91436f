/**
 * The embedded servers of one test run, in a process of their own: jest loads its global setup without our module mapping, and this
 * way the servers end even if jest is killed, because standard input then closes.
 */
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { startPostgres } from '../../src/embedded/postgres.js';
import { startTemporal } from '../../src/embedded/temporal.js';

const [dataDir] = process.argv.slice(2);
if (!dataDir) throw new Error('usage: servers.ts <data directory>');
const log = pino({ level: 'info' }, pino.destination(2));

const [postgres, temporal] = await Promise.all([
  startPostgres({ dataDir, log }),
  startTemporal({ dataDir, port: 0, log }),
]);
console.log(
  JSON.stringify({ databaseUrl: postgres.url, temporalAddress: temporal.address, temporalUi: temporal.uiUrl }),
);

const input = createInterface({ input: process.stdin });
input.on('close', () => {
  Promise.all([postgres.stop(), temporal.stop()]).catch((error: Error) => {
    log.error({ err: error }, 'the servers of the tests could not be stopped');
    process.exitCode = 1;
  });
});
