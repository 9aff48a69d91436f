import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** An unprivileged account to run something as; only root may ask for one. */
export interface Account {
  uid: number;
  gid: number;
}

interface RunOptions {
  timeoutMs: number;
  account?: Account | undefined;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
}

const execute = promisify(execFile);

/** Runs a command and answers its standard output; rejects with one line that says why it failed. */
export async function run(file: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { timeoutMs, account, ...rest } = options;
  try {
    const { stdout } = await execute(file, args, {
      timeout: timeoutMs,
      maxBuffer: 16 * 1024 * 1024,
      ...account,
      ...rest,
    });
    return stdout;
  } catch (error) {
    throw new Error(reason(error as Failure, file, timeoutMs), { cause: error });
  }
}

interface Failure extends Error {
  code?: string | number;
  killed?: boolean;
  stderr?: string;
}

function reason(error: Failure, file: string, timeoutMs: number): string {
  if (error.code === 'ENOENT') return `${file} is not there`;
  if (error.code === 'EACCES') return `${file} may not be run`;
  if (error.killed) return `no end after ${timeoutMs / 1000} s`;
  return lastLine(error.stderr ?? '') ?? error.message;
}

/** The last line of a program's output that says something, cut to 300 characters. */
export function lastLine(output: string): string | undefined {
  return output.trim().split('\n').at(-1)?.trim().slice(0, 300) || undefined;
}
