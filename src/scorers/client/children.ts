/**
 * Processes for scorers' functions: without the service's environment, keys and working folder,
 * and by Node's permissions without files, processes, threads and addons. One serves the same code
 * only, so that a function which leaves its context meets no other's calls.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';

const main = readFileSync(new URL('./sandbox.cjs', import.meta.url), 'utf8');
const idleMs = 10_000;

/** Node 20 knows the permissions by their first name; those of Node 25 cover the network, too. */
const permission = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';

/** Node's options of such a process. */
export const childFlags = (memoryMb: number): string[] => [
  permission,
  '--disallow-code-generation-from-strings',
  '--experimental-vm-modules',
  '--no-warnings',
  '--input-type=commonjs',
  `--max-old-space-size=${memoryMb}`,
  '--max-semi-space-size=4',
];

export interface Task {
  script: string;
  input: string;
  timeMs: number;
  /** Maximum characters that come back. */
  maxChars: number;
}

/** What the process reports; `lost`: it ended, by this signal or code. */
export type Report =
  | { kind: 'value'; json: string | null }
  | { kind: 'error'; message: string }
  | { kind: 'timeout' }
  | { kind: 'lost'; end: NodeJS.Signals | number | null };

export class ScorerChildren {
  private readonly idle = new Map<ChildProcess, { script: string; timer: NodeJS.Timeout }>();
  private readonly memoryMb: number;

  constructor(memoryMb: number) {
    this.memoryMb = memoryMb;
  }

  /** Runs a task; ends its process where it is stopped before it reports. */
  async run(task: Task, signal: AbortSignal): Promise<Report> {
    const child = this.take(task.script);
    let isFree = false;
    let abort = () => {};
    try {
      const report = await new Promise<Report>((resolve, reject) => {
        abort = () => reject(signal.reason as Error);
        signal.addEventListener('abort', abort, { once: true });
        child.once('message', (received: Report) => resolve(received));
        child.once('exit', (code, by) => resolve({ kind: 'lost', end: by ?? code }));
        child.once('error', reject);
        // Where the process has ended, `exit` follows.
        child.send(task, () => undefined);
      });
      isFree = report.kind === 'value' || report.kind === 'error';
      return report;
    } finally {
      signal.removeEventListener('abort', abort);
      child.removeAllListeners();
      child.on('error', () => undefined);
      if (isFree) this.keep(child, task.script);
      else child.kill('SIGKILL');
    }
  }

  close(): void {
    for (const child of this.idle.keys()) this.drop(child);
  }

  private take(script: string): ChildProcess {
    for (const [child, kept] of this.idle) {
      if (kept.script !== script) continue;
      this.idle.delete(child);
      clearTimeout(kept.timer);
      child.removeAllListeners('exit');
      child.ref();
      child.channel?.ref();
      return child;
    }
    return spawn(process.execPath, [...childFlags(this.memoryMb), '-e', main], {
      env: {},
      cwd: tmpdir(),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
  }

  private keep(child: ChildProcess, script: string): void {
    // An idle process keeps nothing alive, and ends with its parent's channel.
    child.unref();
    child.channel?.unref();
    child.once('exit', () => this.drop(child));
    const timer = setTimeout(() => this.drop(child), idleMs).unref();
    this.idle.set(child, { script, timer });
  }

  private drop(child: ChildProcess): void {
    clearTimeout(this.idle.get(child)?.timer);
    this.idle.delete(child);
    child.kill('SIGKILL');
  }
}
