import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ready } from './tree.js';

const command = join(import.meta.dirname, '../../../dist/src/cli/ratchet.js');

/** One role of the built service as an operating system's process of its own. */
export interface RoleProcess {
  pid: number;
  /** Where its API is; a worker has none. */
  url: string;
  /** Ends it as given; resolves with its exit code, null when the signal ended it. */
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
  const url = (await ready(child)) ?? '';
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

/** Starts a role that must refuse to start; what it said on its way out. */
export async function refusedRole(role: 'serve' | 'worker', env: Record<string, string>) {
  const child = launch(role, env, 'pipe');
  const [said, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit') as Promise<[number]>]);
  return { code, said };
}
