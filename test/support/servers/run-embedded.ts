/**
 * Killable parent of a server: node --import ts-loader.mjs run-embedded.ts postgres|temporal
 * '<options as JSON>'. Starts the server, prints one line of JSON and runs until SIGTERM.
 */
import { pino } from 'pino';
import { startPostgres } from '../../../src/platform/embedded/postgres.js';
import { startTemporal } from '../../../src/platform/embedded/temporal.js';

const [kind, options] = process.argv.slice(2);
const start = kind === 'postgres' ? startPostgres : startTemporal;
try {
  const server = await start({ ...JSON.parse(options!), log: pino(pino.destination(2)) });
  const { pid, adopted, ...rest } = server;
  console.log(JSON.stringify({ ...rest, pid, adopted }));
  process.once('SIGTERM', () => void server.stop());
} catch (error) {
  console.log(JSON.stringify({ error: (error as Error).message }));
  process.exitCode = 1;
}
