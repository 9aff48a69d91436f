import { readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { ifItLives } from '../src/embedded/process.js';
import { descendants } from '../test/support/servers/tree.js';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU seconds of one process so far, those of its ended children included; 0 when it is gone (Linux). */
function cpuSecondsOf(pid: number): number {
  const stat = ifItLives(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (stat === undefined) return 0;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime, stime, cutime, cstime: fields 14 to 17 of proc(5).
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / ticksPerSecond;
}

/** CPU seconds so far of a process and everything below it, but for the processes in `without` and all below those. */
export function cpuSeconds(pid: number, without: readonly number[] = []): number {
  const left = new Set(without.flatMap((other) => descendants(other)));
  return descendants(pid)
    .filter((one) => !left.has(one))
    .reduce((sum, one) => sum + cpuSecondsOf(one), 0);
}

/** Resident memory of one process in MiB: now, and the most since `resetPeak`. Throws when the process is gone. */
export function memoryMiB(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { now: kib('VmRSS') / 1_024, peak: kib('VmHWM') / 1_024 };
}

/** Begins the peak of `memoryMiB` anew: `clear_refs` 5 of proc(5). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
