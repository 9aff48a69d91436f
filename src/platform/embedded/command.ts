import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** An unprivileged account to run a command as; requires root. */
export interface Account {
  uid: number;
  gid: number;
}

export interface RunOptions {
  timeoutMs: number;
  account?: Account | undefined;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Its standard input; default: empty. */
  input?: string;
  /** Called with each line of its standard error as it comes. */
  onErrorLine?: (line: string) => void;
}

const execute = promisify(execFile);

/** Runs a command and returns its standard output; rejects with a one-line reason. */
export async function run(file: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { timeoutMs, account, input = '', onErrorLine, ...rest } = options;
  try {
    const running = execute(file, args, {
      timeout: timeoutMs,
      maxBuffer: 16 * 1024 * 1024,
      ...account,
      ...rest,
    });
    // A program that does not read it may end first.
    running.child.stdin?.on('error', () => undefined).end(input);
    if (onErrorLine) createInterface({ input: running.child.stderr! }).on('line', onErrorLine);
    return (await running).stdout;
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
  if (error.code === 'ENOENT') return `${file} does not exist`;
  if (error.code === 'EACCES') return `${file} is not executable`;
  if (error.killed) return `timed out after ${timeoutMs / 1000} s`;
  return lastLine(error.stderr ?? '') ?? error.message;
}

/** The last non-empty line of a program's output, cut to 300 characters. */
export function lastLine(output: string): string | undefined {
  return output.trim().split('\n').at(-1)?.trim().slice(0, 300) || undefined;
}
