import { run, type Account } from './command.js';
import { StartupError } from './errors.js';

/**
 * Account for Postgres if we run as root, which Postgres refuses. No distribution assigns this id:
 * systemd lists 65520 to 65533 as unused.
 */
const ours: Account = { uid: 65_524, gid: 65_524 };

/** The account to run Postgres as; undefined: the current user. */
export function serverAccount(): Account | undefined {
  return process.getuid?.() === 0 ? ours : undefined;
}

/** The account that runs initdb, whose id must have a name: `nobody`, in the group of `account`. */
export async function namedAccount({ gid }: Account): Promise<Account> {
  try {
    return { uid: Number(await run('id', ['-u', 'nobody'], { timeoutMs: 5000 })), gid };
  } catch (error) {
    throw new StartupError(
      `Postgres refuses to run as root, and there is no user "nobody" to create its files (${(error as Error).message}): run Ratchet as another user, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

/** Whether the account can enter the folder and every folder above it. */
export async function canEnter(folder: string, account: Account): Promise<boolean> {
  return run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { timeoutMs: 5000, account, cwd: '/' }).then(
    () => true,
    () => false,
  );
}
