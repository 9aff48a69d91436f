import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Api } from '../../src/cli/service/api.js';
import { firstFree } from '../../src/embedded/ports.js';
import { memoryMiB, savedServer } from '../proc.js';
import { runTypeScript } from '../../test/support/children.js';
import { startTree } from '../../test/support/servers/tree.js';

/** The whole service as started by `npm start`, and its world. */
export interface Bench {
  api: Api;
  temporal: Client;
  worldUrl: string;
  /** Peak memory of API and worker in MiB. */
  peakMemory(): number;
  stop(): Promise<void>;
}

/** Starts both with their own data and ports. */
export async function startBench(): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'ratchet-bench-'));
  // Postgres may run as another user.
  await chmod(folder, 0o755);
  const world = runTypeScript<string>(join(import.meta.dirname, 'world.ts'), []);
  const worldUrl = await world.first;
  const port = await firstFree();
  const apiKey = randomBytes(24).toString('hex');
  const tree = await startTree({
    PORT: '0',
    RATCHET_TEMPORAL_PORT: `${port}`,
    RATCHET_DATA_DIR: folder,
    RATCHET_API_KEY: apiKey,
    RATCHET_PROVIDERS: 'bench',
    BENCH_BASE_URL: `${worldUrl}/v1`,
    // Ignore the shell's settings for the user's own servers.
    DATABASE_URL: '',
    TEMPORAL_ADDRESS: '',
    TEMPORAL_CONFIG_FILE: '',
    RATCHET_PUBLIC_URL: '',
    RATCHET_EGRESS: '',
  });
  const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
  const servers = (['postgres', 'temporal'] as const).map((name) => savedServer(folder, name).process.pid);
  return {
    api: new Api(tree.url, apiKey),
    temporal: new Client({ connection }),
    worldUrl,
    peakMemory: () => memoryMiB(tree.process.pid!, servers).peak,
    async stop() {
      await connection.close();
      await tree.stop();
      world.process.kill('SIGKILL');
      await world.ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
