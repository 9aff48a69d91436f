import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A command of the product with all that it has printed. */
export interface RunningCommand {
  process: ChildProcess;
  out(): string;
  err(): string;
  /** The exit code; null: ended by a signal. */
  ended: Promise<number | null>;
}

/** Starts a command in a process group of its own. */
export function startCommand(
  [file, ...args]: readonly [string, ...string[]],
  cwd: string,
  env: Record<string, string>,
): RunningCommand {
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { process: child, out: () => out, err: () => err, ended };
}
