import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { commandLine, ifItLives } from '../../../src/platform/embedded/process.js';
import type { TestService } from '../service.js';
import { until } from '../until.js';

const root = join(import.meta.dirname, '..', '..', '..');

/** The real `npm start`, or another command of the product, as a process tree. */
export interface Tree {
  /** Empty for a worker alone. */
  url: string;
  /** Signs one browser in to the dashboard; empty for an API or a worker alone. */
  loginUrl: string;
  process: ChildProcess;
  hasEnded(): boolean;
  /** kill -9 of every process of the tree; resolves when all are gone. */
  kill(): Promise<void>;
  /** Ctrl-C; resolves when the tree has ended. */
  stop(): Promise<void>;
  /** SIGTERM to the service's first process alone; resolves with the exit code of the tree. */
  terminate(): Promise<number | null>;
}

/** Replacement of `npm start`: a role of the built service or a command; and the log file. */
export interface TreeOptions {
  command?: 'serve' | 'worker' | 'dev' | readonly [string, ...string[]] | undefined;
  logFile?: string;
}

const commandOf = (role: string) => [process.execPath, join(root, 'dist', 'src', 'cli', 'ratchet.js'), role] as const;

/** Starts the service with these settings and waits until it is ready. */
export async function startTree(
  env: Record<string, string>,
  { command = ['npm', 'start', '--silent'], logFile }: TreeOptions = {},
): Promise<Tree> {
  const log = logFile === undefined ? 'inherit' : openSync(logFile, 'a');
  const [file, ...args] = typeof command === 'string' ? commandOf(command) : command;
  const child = spawn(file, args, {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', log],
    detached: true,
  });
  const end = () => signal(-child.pid!, 'SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  if (typeof log === 'number') closeSync(log);
  const { url, loginUrl } = await ready(child);
  if (!url && command !== 'worker') throw new Error('the service is ready, but did not print its URL');
  return {
    url,
    loginUrl,
    process: child,
    hasEnded: () => hasEnded(child),
    kill: () => killTree(child),
    stop: () => interruptTree(child),
    terminate: () => terminateTree(child),
  };
}

/** kill -9 of a process and its descendants; resolves when all are gone. */
export async function killTree(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const pids = descendants(child.pid!);
  for (const pid of pids) signal(pid, 'SIGKILL');
  await gone(child, pids);
}

/** Ctrl-C to the process group of a detached child, as a terminal does; resolves at its end. */
async function interruptTree(child: ChildProcess): Promise<void> {
  const pids = descendants(child.pid!);
  process.kill(-child.pid!, 'SIGINT');
  await gone(child, pids);
}

async function terminateTree(child: ChildProcess): Promise<number | null> {
  const pids = descendants(child.pid!);
  // npm and its shell do not pass it on.
  const first = pids.find((pid) => /^\S*node\b/.test(commandLine(pid) ?? ''))!;
  signal(first, 'SIGTERM');
  await gone(child, pids);
  return child.exitCode;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function gone(child: ChildProcess, pids: number[]): Promise<void> {
  if (!hasEnded(child)) await once(child, 'exit');
  await until('all processes of the tree have ended', () => !pids.some(alive), 60, 10);
}

/** Waits until a process is ready; returns the URL of its API, or null without one. */
export async function ready(child: ChildProcess): Promise<{ url: string; loginUrl: string }> {
  let [url, loginUrl] = ['', ''];
  for await (const line of createInterface({ input: child.stdout! })) {
    url ||= /^API +(\S+)/.exec(line)?.[1] ?? '';
    loginUrl ||= /^Dashboard +(\S+#login=\S+)/.exec(line)?.[1] ?? '';
    if (line.startsWith('Ready.')) {
      // Further output must not fill the pipe.
      child.stdout!.resume();
      return { url, loginUrl };
    }
  }
  throw new Error(`${child.spawnargs.join(' ')} ended before it was ready; see above`);
}

/** A process and its descendants, from the process table. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const parent = parentOf(Number(entry));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const found = [pid];
  for (const next of found) found.push(...(children.get(next) ?? []));
  return found;
}

function parentOf(pid: number): number | undefined {
  const fields = statOf(pid);
  return fields && Number(fields[1]);
}

function alive(pid: number): boolean {
  const fields = statOf(pid);
  return fields !== undefined && fields[0] !== 'Z';
}

/** Fields of /proc/<pid>/stat from the third on; undefined: no such process. */
function statOf(pid: number): string[] | undefined {
  const stat = ifItLives(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Starts a role that must refuse to start; returns its exit code and the only entry of its log. */
export async function refusedRole(role: 'serve' | 'worker', env: Record<string, string>) {
  const [file, ...args] = commandOf(role);
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(file, args, { env: { PATH, HOME, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  const [lines, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>]);
  const { level, msg: said } = JSON.parse(lines) as { level: number; msg: string };
  return { code, level, said };
}

/** Starts a worker as its own process tree, for a test service without a worker. */
export const startWorkerOf = (service: Pick<TestService, 'config' | 'url'>): Promise<Tree> =>
  startTree({ ...settingsOf(service), RATCHET_PUBLIC_URL: service.url }, { command: 'worker' });

/** Starts an API as its own process tree, for a test service without an API. */
export const startApiOf = (service: Pick<TestService, 'config'>): Promise<Tree> =>
  startTree(settingsOf(service), { command: 'serve' });

function settingsOf({ config }: Pick<TestService, 'config'>): Record<string, string> {
  const env = Object.entries(config.env).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return Object.fromEntries(env) as Record<string, string>;
}
