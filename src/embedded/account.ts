import { run, type Account } from './command.js';
import { StartupError } from './errors.js';

/**
 * Postgres refuses to run as root. As root we run it under this id, which needs no entry in the list of users (so none is made) and
 * which no distribution hands out: systemd's table of ids lists 65520 to 65533 as unused.
 */
const ours: Account = { uid: 65_524, gid: 65_524 };

/** The account to run Postgres as: undefined is the user who runs us. */
export function serverAccount(): Account | undefined {
  return process.getuid?.() === 0 ? ours : undefined;
}

/** The account for initdb, which refuses an id without a name: `nobody`, which is everywhere. It keeps no file. */
export async function namedAccount(): Promise<Account> {
  const id = async (flag: string) => Number(await run('id', [flag, 'nobody'], { timeoutMs: 5000 }));
  try {
    return { uid: await id('-u'), gid: await id('-g') };
  } catch (error) {
    throw new StartupError(
      `Postgres refuses to run as root, and there is no user "nobody" to create its files (${(error as Error).message}): run Ratchet as another user, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

/** Whether the account reaches what is in the folder: that takes the right to pass through every folder above it. */
export async function canEnter(folder: string, account: Account): Promise<boolean> {
  return run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { timeoutMs: 5000, account, cwd: '/' }).then(
    () => true,
    () => false,
  );
}
