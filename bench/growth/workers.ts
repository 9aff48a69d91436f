/** More `ratchet worker` processes on the Postgres and the Temporal of a world. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTree } from '../../test/support/servers/tree.js';
import { range } from '../jobs.js';
import { cpuSeconds } from '../proc.js';
import type { World } from '../world.js';

export interface Workers {
  /** CPU seconds so far. */
  spent(): number;
  stop(): Promise<void>;
}

export async function startWorkers(world: World, count: number): Promise<Workers> {
  const read = (...path: string[]) => readFileSync(join(world.dataDir, ...path), 'utf8').trim();
  const settingsOf = (server: string) =>
    (JSON.parse(read(server, 'server.json')) as { settings: { port: number; password?: string } }).settings;
  const postgres = settingsOf('postgres');
  const env = {
    DATABASE_URL: `postgres://postgres:${postgres.password}@127.0.0.1:${postgres.port}/postgres`,
    TEMPORAL_ADDRESS: `127.0.0.1:${settingsOf('temporal').port}`,
    TEMPORAL_CONFIG_FILE: '',
    RATCHET_PUBLIC_URL: world.url,
    RATCHET_SECRET_KEY: read('secret-key'),
    RATCHET_EGRESS: 'dev',
    RATCHET_PROVIDERS: 'fake',
    FAKE_BASE_URL: world.model.url,
  };
  const trees = await Promise.all(range(count).map(() => startTree(env, { command: 'worker' })));
  return {
    spent: () => trees.reduce((sum, tree) => sum + cpuSeconds(tree.process.pid!), 0),
    stop: async () => {
      await Promise.all(trees.map((tree) => tree.stop()));
    },
  };
}
