import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { namedAccount } from './account.js';
import { run, type Account } from './command.js';
import { StartupError } from './errors.js';
import { commandLine, end, processMark } from './process.js';

/** Environment of the Postgres programs. */
export const postgresEnv = { LC_ALL: 'C', TZ: 'UTC' };

/**
 * Creates the database cluster in `data` unless it exists, moved in one step, so that a kill leaves
 * nothing partial. As root, `nobody` creates the files and `account` owns them.
 */
export async function createCluster(
  initdb: string,
  { data, password }: { data: string; password: string },
  account: Account | undefined,
): Promise<void> {
  if (existsSync(data)) return;
  const draft = `${data}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  const maker = account && (await namedAccount(account));
  if (maker) chownSync(draft, maker.uid, maker.gid);
  const args = [
    '--pgdata',
    join(draft, 'data'),
    '--username',
    'postgres',
    '--auth',
    'scram-sha-256',
    // Pass the password through a pipe: other processes of `nobody` could read a file.
    '--pwfile',
    '/dev/stdin',
    '--encoding',
    'UTF8',
    '--no-locale',
    '--locale-provider',
    'builtin',
    '--builtin-locale',
    'C.UTF-8',
  ];
  const env = { ...postgresEnv, PATH: '/usr/bin:/bin' };
  try {
    // The shell makes a pipe that the account may open by name; that of this process it may not.
    const piped = ['-c', 'cat | "$0" "$@"', initdb, ...args];
    await run('/bin/sh', piped, { timeoutMs: 120_000, input: password, account: maker, cwd: '/', env });
  } catch (error) {
    throw new StartupError(`Postgres could not create its files in ${data}: ${(error as Error).message}.`, {
      cause: error,
    });
  }
  if (account) giveTo(account, join(draft, 'data'));
  renameSync(join(draft, 'data'), data);
  rmSync(draft, { recursive: true });
}

function giveTo({ uid, gid }: Account, folder: string): void {
  chownSync(folder, uid, gid);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    chownSync(join(folder, name), uid, gid);
}

/** A process id above every system's limit. */
const nobodysPid = 2 ** 31 - 2;

/**
 * Handles a stale postmaster.pid after kill -9: stops a leftover server. Replaces the id if another
 * program has it now; keeps the rest, which Postgres needs to detect old workers.
 */
export async function settlePidFile(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const [first, ...rest] = readFileSync(file, 'utf8').split('\n');
  const pid = Number(first);
  const mark = processMark(pid);
  if (mark && commandLine(pid)?.includes(`-D ${data} `)) await end(mark, ['SIGINT', 'SIGQUIT', 'SIGKILL']);
  // Also for an exited process: Postgres takes a zombie for a living one.
  if (existsSync(file)) writeFileSync(file, [nobodysPid, ...rest].join('\n'));
}
