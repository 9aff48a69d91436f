import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ready } from './tree.js';

const command = join(import.meta.dirname, '../../../dist/src/cli/ratchet.js');

/** One role of the built service in its own process. */
export interface RoleProcess {
  pid: number;
  /** URL of its API; empty for a worker. */
  url: string;
  /** Sends the signal; resolves with the exit code, null if the signal ended the process. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

function launch(role: 'serve' | 'worker', env: Record<string, string>, stderr: 'inherit' | 'pipe'): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  return spawn(process.execPath, [command, role], {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', stderr],
  });
}

/** Starts `ratchet serve` or `ratchet worker` with only these settings; resolves when ready. */
export async function startRole(role: 'serve' | 'worker', env: Record<string, string>): Promise<RoleProcess> {
  const child = launch(role, env, 'inherit');
  const { url } = await ready(child);
  return {
    pid: child.pid!,
    url,
    async end(signal) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}

/** Starts a role that must refuse to start; returns its exit code and standard error. */
export async function refusedRole(role: 'serve' | 'worker', env: Record<string, string>) {
  const child = launch(role, env, 'pipe');
  const [said, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit') as Promise<[number]>]);
  return { code, said };
}
