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
import { commandLine, end, markOf } from './process.js';

/** What Postgres's programs get to see of the environment. */
export const postgresEnv = { LC_ALL: 'C', TZ: 'UTC' };

/**
 * Creates the database cluster in `data` unless it is there: made beside it and moved in one step, so that a kill leaves nothing
 * half made. As root, `nobody` makes the files and `account` keeps them.
 */
export async function createCluster(
  initdb: string,
  { data, password }: { data: string; password: string },
  account: Account | undefined,
): Promise<void> {
  if (existsSync(data)) return;
  const draft = `${data}.new`;
  const passwordFile = join(draft, 'password');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const maker = account && (await namedAccount());
  if (maker) for (const path of [draft, passwordFile]) chownSync(path, maker.uid, maker.gid);
  const args = [
    ...['--pgdata', join(draft, 'data'), '--username', 'postgres', '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
    ...['--encoding', 'UTF8', '--no-locale', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
  ];
  try {
    await run(initdb, args, { timeoutMs: 120_000, account: maker, cwd: '/', env: postgresEnv });
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

/** No process has this id: it is above every system's limit. */
const nobodysPid = 2 ** 31 - 2;

/**
 * After kill -9 the file postmaster.pid stays behind. A server of these files that we have lost sight of is ended. If the id belongs to
 * another program by now (usual in containers, where ids are small), Postgres would refuse to start, so the id is replaced; the
 * rest of the file stays, because by it Postgres sees whether old workers still use its shared memory.
 */
export async function settlePidFile(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const [first, ...rest] = readFileSync(file, 'utf8').split('\n');
  const pid = Number(first);
  const mark = markOf(pid);
  if (mark && commandLine(pid)?.includes(`-D ${data} `)) await end(mark, ['SIGINT', 'SIGQUIT', 'SIGKILL']);
  // Also where the process is gone: until its parent has taken note, Postgres takes what is left of it for alive.
  if (existsSync(file)) writeFileSync(file, [nobodysPid, ...rest].join('\n'));
}
