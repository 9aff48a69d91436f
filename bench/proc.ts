import { readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { ifItLives } from '../src/embedded/process.js';
import { descendants } from '../test/support/servers/tree.js';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU seconds of a process, including ended children; 0: no such process (Linux). */
function processCpuSeconds(pid: number): number {
  const stat = ifItLives(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === undefined) return 0;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime, stime, cutime, cstime: fields 14 to 17 of proc(5).
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / ticksPerSecond;
}

/** CPU seconds of a process tree, except the subtrees of `without`. */
export function cpuSeconds(pid: number, without: readonly number[] = []): number {
  const excluded = new Set(without.flatMap((other) => descendants(other)));
  return descendants(pid)
    .filter((child) => !excluded.has(child))
    .reduce((sum, child) => sum + processCpuSeconds(child), 0);
}

/**
 * Resident memory of a process in MiB: current, and peak since `resetPeak`. Throws if it has ended.
 */
export function memoryMiB(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { now: kib('VmRSS') / 1_024, peak: kib('VmHWM') / 1_024 };
}

/** Resets the peak of `memoryMiB`: `clear_refs` 5 of proc(5). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
