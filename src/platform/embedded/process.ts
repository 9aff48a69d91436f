import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Identity of a process in a file: the id alone may be reused. */
export interface ProcessMark {
  pid: number;
  /** Start time, unique for the process. */
  startTime: string;
}

/** The mark of a living process, or undefined; a zombie is not alive. */
export function processMark(pid: number): ProcessMark | undefined {
  const startTime = process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

/** Whether this very process is alive. */
export function lives(mark: ProcessMark): boolean {
  return processMark(mark.pid)?.startTime === mark.startTime;
}

/** The command line of a living process, or undefined. */
export function commandLine(pid: number): string | undefined {
  if (!processMark(pid)) return undefined;
  if (process.platform !== 'linux') return ps('args=', pid);
  return ifItLives(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
}

/** Resolves when the process has exited. */
export async function gone(mark: ProcessMark, everyMs = 1000): Promise<void> {
  while (lives(mark)) await sleep(everyMs);
}

/** Sends the signals in turn to the process and its group until it has exited, `graceMs` apart. */
export async function end(mark: ProcessMark, signals: readonly NodeJS.Signals[], graceMs = 10_000): Promise<void> {
  for (const signal of signals) {
    if (!lives(mark)) return;
    // A program on PATH may be a script that runs the server as its child.
    if (!send(-mark.pid, signal) && !send(mark.pid, signal)) return;
    const deadline = Date.now() + graceMs;
    while (lives(mark) && Date.now() < deadline) await sleep(10);
  }
  await gone(mark, 10);
}

/** Sends a signal to a process or, by a negative id, to its group; false: there is none. */
function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

// Field 22 of /proc/<pid>/stat counts clock ticks since boot, so the boot id is part of the mark.
function startTimeFromProc(pid: number): string | undefined {
  return ifItLives(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19]}`;
  });
}

function startTimeFromPs(pid: number): string | undefined {
  const line = ps('stat=,lstart=', pid);
  return line?.startsWith('Z') ? undefined : line?.replace(/^\S+\s+/, '');
}

/** Reads a file of a process in /proc; undefined: no such process. */
export function ifItLives<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}

// Without /proc (not Linux) use ps; it exits with 1 if the process does not exist.
function ps(fields: string, pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', fields, '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch (error) {
    if ((error as { status?: number }).status === 1) return undefined;
    throw error;
  }
}
