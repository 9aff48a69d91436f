import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process as it can be written to a file: the id alone could by then belong to another one. */
export interface ProcessMark {
  pid: number;
  /** When it began, in a form that only the same process has. */
  began: string;
}

/** The mark of a living process, or undefined where there is none (an ended one that nobody has waited for is not alive). */
export function markOf(pid: number): ProcessMark | undefined {
  const began = process.platform === 'linux' ? beganByProc(pid) : beganByPs(pid);
  return began === undefined ? undefined : { pid, began };
}

/** Whether exactly this process still lives. */
export function lives(mark: ProcessMark): boolean {
  return markOf(mark.pid)?.began === mark.began;
}

/** The command line of a living process, or undefined where there is none. */
export function commandLine(pid: number): string | undefined {
  if (!markOf(pid)) return undefined;
  if (process.platform !== 'linux') return ps('args=', pid);
  return ifItLives(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
}

/** Resolves once the process is gone. */
export async function gone(mark: ProcessMark, everyMs = 1000): Promise<void> {
  while (lives(mark)) await sleep(everyMs);
}

/** Ends the process: each signal in turn, the next one when `graceMs` later it still lives. */
export async function end(mark: ProcessMark, signals: readonly NodeJS.Signals[], graceMs = 10_000): Promise<void> {
  for (const signal of signals) {
    if (!lives(mark)) return;
    try {
      process.kill(mark.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw error;
    }
    const deadline = Date.now() + graceMs;
    while (lives(mark) && Date.now() < deadline) await sleep(10);
  }
  await gone(mark, 10);
}

// Field 22 of /proc/<pid>/stat counts clock ticks since boot, so the boot belongs to it.
function beganByProc(pid: number): string | undefined {
  return ifItLives(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19]}`;
  });
}

function beganByPs(pid: number): string | undefined {
  const line = ps('stat=,lstart=', pid);
  return line?.startsWith('Z') ? undefined : line?.replace(/^\S+\s+/, '');
}

/** What is read of a process in /proc; undefined where it is gone. */
export function ifItLives<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}

// Elsewhere than on Linux there is no /proc, but there is always ps; it ends with 1 where there is no such process.
function ps(fields: string, pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', fields, '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch (error) {
    if ((error as { status?: number }).status === 1) return undefined;
    throw error;
  }
}
