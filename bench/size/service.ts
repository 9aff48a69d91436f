import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Api } from '../../src/cli/api.js';
import { firstFree } from '../../src/embedded/ports.js';
import { runTypeScript } from '../../test/support/children.js';
import { startTree } from '../../test/support/servers/tree.js';

/** The whole service as started by `npm start`, and its world. */
export interface Bench {
  api: Api;
  temporal: Client;
  worldUrl: string;
  /** Peak memory of API and worker in MB; null: unknown on this system. */
  peakMemory(): Promise<number | null>;
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
  const pid = await servicePid(tree.process.pid!);
  return {
    api: new Api(tree.url, apiKey),
    temporal: new Client({ connection }),
    worldUrl,
    async peakMemory() {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const kb = /VmHWM:\s+(\d+) kB/.exec(status)?.[1];
      return kb === undefined ? null : Number(kb) / 1_000;
    },
    async stop() {
      await connection.close();
      await tree.stop();
      world.process.kill('SIGKILL');
      await world.ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The service's process: the last one started by npm and its script. */
async function servicePid(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  for (const child of children.trim().split(' ').filter(Boolean).map(Number)) {
    const line = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '');
    if (/postgres|temporal/.test(line.split('\0')[0] ?? '')) continue;
    return servicePid(child);
  }
  return pid;
}
