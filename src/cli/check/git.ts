import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from '../../service/config.js';

const git = async (...args: string[]) =>
  (await promisify(execFile)('git', args, { maxBuffer: 64 * 1024 * 1024 })).stdout;

/** The commit of a ref. */
export async function commitOf(ref: string): Promise<string> {
  try {
    return (await git('rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`)).trim();
  } catch (cause) {
    const message = `--against ${ref}: git knows no such commit here; fetch it first, or name another`;
    throw new ConfigError(message, { cause });
  }
}

/** A commit as people read it. */
export const shortOf = (commit: string): string => commit.slice(0, 8);

/** The text of a file of the current folder as of a commit; null: it did not exist. */
export async function fileAt(commit: string, path: string): Promise<string | null> {
  const name = `./${path}`;
  const listed = await git('ls-tree', '--name-only', commit, '--', name);
  return listed.trim() === '' ? null : git('show', `${commit}:${name}`);
}
