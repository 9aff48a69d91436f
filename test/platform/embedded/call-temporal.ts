/** Helper of temporal-on-path.test.ts: starts Temporal, calls it in both ways, and stops it. */
import { pino } from 'pino';
import { startTemporal } from '../../../src/platform/embedded/temporal.js';
import { connectClient } from '../../../src/platform/temporal/connection.js';

const [dataDir, cacheDir] = process.argv.slice(2) as [string, string];
const { PATH: searchPath } = process.env;
try {
  const server = await startTemporal({ dataDir, cacheDir, searchPath, port: 0, log: pino({ level: 'silent' }) });
  const { address } = server;
  let calls = 0;
  for (const target of [{ embedded: { address } }, { env: { ...process.env, TEMPORAL_ADDRESS: address } }]) {
    const { connection } = await connectClient(target, null, true);
    await connection.close();
    calls += 1;
  }
  await server.stop();
  console.log(JSON.stringify({ address, calls }));
} catch (error) {
  console.log(JSON.stringify({ error: (error as Error).message }));
}
