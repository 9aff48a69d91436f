import { readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ifItLives } from '../src/platform/embedded/process.js';
import { descendants } from '../test/support/servers/tree.js';

/** The part of an embedded server's `server.json` that a bench needs. */
interface SavedServer {
  settings: { port: number; password?: string };
  process: { pid: number };
}

export function savedServer(dataDir: string, name: 'postgres' | 'temporal'): SavedServer {
  return JSON.parse(readFileSync(join(dataDir, name, 'server.json'), 'utf8')) as SavedServer;
}

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU seconds of a process, including ended children; 0: no such process (Linux). */
function processCpuSeconds(pid: number): number {
  const stat = ifItLives(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === undefined) return 0;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime, stime, cutime, cstime: fields 14 to 17 of proc(5).
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / ticksPerSecond;
}

/** A process and its descendants, except the subtrees of `without`. */
function tree(pid: number, without: readonly number[]): number[] {
  const excluded = new Set(without.flatMap((other) => descendants(other)));
  return descendants(pid).filter((child) => !excluded.has(child));
}

/** CPU seconds of a process tree, except the subtrees of `without`. */
export function cpuSeconds(pid: number, without: readonly number[] = []): number {
  return tree(pid, without).reduce((sum, child) => sum + processCpuSeconds(child), 0);
}

/**
 * Resident memory of a process tree in MiB, except the subtrees of `without`: current, and the sum
 * of the processes' peaks since `resetPeaks`.
 */
export function memoryMiB(pid: number, without: readonly number[]): { now: number; peak: number } {
  const statuses = tree(pid, without).map((child) => ifItLives(() => readFileSync(`/proc/${child}/status`, 'utf8')));
  const sum = (name: string) =>
    statuses.reduce((total, status) => {
      const kib = Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status ?? '')?.[1] ?? 0);
      return total + kib / 1_024;
    }, 0);
  return { now: sum('VmRSS'), peak: sum('VmHWM') };
}

/** Resets the peaks of `memoryMiB`: `clear_refs` 5 of proc(5). */
export function resetPeaks(pid: number, without: readonly number[]): void {
  for (const child of tree(pid, without)) writeFileSync(`/proc/${child}/clear_refs`, '5');
}
