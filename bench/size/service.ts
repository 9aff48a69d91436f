import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { Ratchet } from '../../src/client/index.js';
import { runTypeScript } from '../../test/support/children.js';
import { memoryMiB, savedServer } from '../proc.js';
import { startService } from '../service.js';

/** The service and its world. */
export interface Bench {
  client: Ratchet;
  temporal: Client;
  worldUrl: string;
  /** Peak memory of API and worker in MiB. */
  peakMemory(): number;
  stop(): Promise<void>;
}

/** Starts both. */
export async function startBench(): Promise<Bench> {
  const world = runTypeScript<string>(join(import.meta.dirname, 'world.ts'), []);
  const worldUrl = await world.first;
  const { client, dataDir, tree, stop } = await startService(`${worldUrl}/v1`);
  const [postgres, temporal] = [savedServer(dataDir, 'postgres'), savedServer(dataDir, 'temporal')];
  const connection = await Connection.connect({ address: `127.0.0.1:${temporal.settings.port}` });
  const servers = [postgres.process.pid, temporal.process.pid];
  return {
    client,
    temporal: new Client({ connection }),
    worldUrl,
    peakMemory: () => memoryMiB(tree.process.pid!, servers).peak,
    async stop() {
      await connection.close();
      await stop();
      world.process.kill('SIGKILL');
      await world.ended;
    },
  };
}
