import { chmodSync, chownSync, existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { serverAccount } from './account.js';
import { makeFolder } from './files.js';

/**
 * Creates the data directory, for this user alone; as root, the account of Postgres may pass. An
 * existing one keeps its mode: it may be a mount, or hold other things.
 */
export function makeDataFolder(dataDir: string): void {
  const missing: string[] = [];
  for (let folder = resolve(dataDir); !existsSync(folder); folder = dirname(folder)) missing.push(folder);
  makeFolder(dataDir, 'RATCHET_DATA_DIR', 0o700);
  const account = serverAccount();
  if (!account) return;
  for (const folder of missing) {
    chownSync(folder, process.getuid!(), account.gid);
    chmodSync(folder, 0o710);
  }
}

/** The folder of the embedded Postgres in a data directory. */
export const postgresFolder = (dataDir: string): string => join(resolve(dataDir), 'postgres');

/** Whether the embedded Postgres was ever started for a data directory. */
export function holdsDatabase(dataDir: string): boolean {
  return ['server.json', 'data'].some((name) => existsSync(join(postgresFolder(dataDir), name)));
}
