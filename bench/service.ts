import { mkdtempSync, chmodSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ratchet } from '../src/client/index.js';
import { startTree, type Tree } from '../test/support/servers/tree.js';

/** The whole service as started by `npm start`, with its own data and ports. */
export interface Service {
  client: Ratchet;
  dataDir: string;
  tree: Tree;
  stop(): Promise<void>;
}

/** Starts the service with the models at `modelsUrl` as the provider `bench`. */
export async function startService(modelsUrl: string): Promise<Service> {
  const folder = newFolder();
  const dataDir = join(folder, 'data');
  const env = { ...embeddedSettings(dataDir), RATCHET_PROVIDERS: 'bench', BENCH_BASE_URL: modelsUrl };
  const tree = await startTree(env);
  return {
    client: new Ratchet({ url: tree.url, apiKey: keyIn(dataDir), timeoutMs: 300_000 }),
    dataDir,
    tree,
    async stop() {
      await tree.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A folder for the data of a service. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-bench-'));
  // Postgres, which never runs as root, must enter it.
  chmodSync(folder, 0o711);
  return folder;
}

/** The key that an embedded service keeps in its data. */
export const keyIn = (dataDir: string): string => readFileSync(join(dataDir, 'api-key'), 'utf8').trim();

/** Settings of an embedded service with its own data and free ports, apart from the shell's. */
export function embeddedSettings(dataDir: string): Record<string, string> {
  return {
    PORT: '0',
    RATCHET_TEMPORAL_PORT: '0',
    RATCHET_DATA_DIR: dataDir,
    DATABASE_URL: '',
    TEMPORAL_ADDRESS: '',
    TEMPORAL_CONFIG_FILE: '',
    RATCHET_API_KEY: '',
    RATCHET_PUBLIC_URL: '',
    RATCHET_EGRESS: '',
  };
}

/** Waits until a job has ended; throws unless it completed. */
export async function completed(job: {
  id: string;
  wait(): Promise<{ status: string; error: string | null }>;
}): Promise<void> {
  const { status, error } = await job.wait();
  if (status !== 'completed') throw new Error(`${job.id} ended as ${status}: ${error}`);
}
