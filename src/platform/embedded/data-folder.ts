import { chmodSync, chownSync, existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { serverAccount } from './account.js';
import { StartupError } from './errors.js';
import { createFile, makeFolder } from './files.js';

/** What a data directory holds, and what a file system puts into its root. */
const contents = new Set([
  '.gitignore',
  'lock',
  'secret-key',
  'api-key',
  'postgres',
  'temporal',
  'command.log',
  'demo',
  'lost+found',
]);

/**
 * Makes the data directory for this user alone; as root, the account of Postgres may pass. One that
 * exists is closed to others too, unless it holds something else: then the start ends.
 */
export function makeDataFolder(dataDir: string): void {
  const missing: string[] = [];
  for (let folder = resolve(dataDir); !existsSync(folder); folder = dirname(folder)) missing.push(folder);
  makeFolder(dataDir, 'RATCHET_DATA_DIR', 0o700);
  for (const folder of missing) close(folder);
  if (missing.length === 0 && isOpen(dataDir)) closeExisting(dataDir);
  if (foreignEntry(dataDir) === undefined) ignoreInGit(dataDir);
}

/** Keeps secrets and the database out of a commit of the folder around it. */
function ignoreInGit(dataDir: string): void {
  const file = join(dataDir, '.gitignore');
  try {
    if (!existsSync(file)) createFile(file, '*\n');
  } catch (error) {
    throw new StartupError(`${dataDir} cannot be written (${(error as Error).message}): set RATCHET_DATA_DIR.`, {
      cause: error,
    });
  }
}

/** The first entry that Ratchet did not make; undefined: none. */
function foreignEntry(dataDir: string): string | undefined {
  // Drafts of files that another start writes.
  return readdirSync(dataDir).find((name) => !contents.has(name) && !/^lock\.|\.new$/.test(name));
}

const closed = () => (serverAccount() ? 0o710 : 0o700);
const isOpen = (folder: string): boolean => (statSync(folder).mode & 0o777 & ~closed()) !== 0;

function close(folder: string): void {
  const account = serverAccount();
  if (account) chownSync(folder, process.getuid!(), account.gid);
  chmodSync(folder, closed());
}

function closeExisting(dataDir: string): void {
  const foreign = foreignEntry(dataDir);
  let why = foreign === undefined ? '' : `holds ${foreign}`;
  try {
    if (foreign === undefined) close(dataDir);
  } catch (error) {
    why = (error as Error).message;
  }
  if (!isOpen(dataDir)) return;
  throw new StartupError(
    `Other users can enter ${dataDir}, and it is not closed to them (${why || 'its file system keeps the mode'}): set RATCHET_DATA_DIR to a folder of its own, or run "chmod 700 ${dataDir}".`,
  );
}

/** The folder of the embedded Postgres in a data directory. */
export const postgresFolder = (dataDir: string): string => join(resolve(dataDir), 'postgres');

/** Whether the embedded Postgres was ever started for a data directory. */
export function holdsDatabase(dataDir: string): boolean {
  return ['server.json', 'data'].some((name) => existsSync(join(postgresFolder(dataDir), name)));
}
