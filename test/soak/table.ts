import type { Sample } from './sampler.js';
import { slopeOf } from './slope.js';

/** Share of the run in which caches and code become warm. */
const warmUp = 0.3;

/**
 * A line for each value: at the start, once warm, at the end of the load, after the rest, the
 * most, and its slope while warm under load, with its standard error, an hour and 1,000 jobs.
 */
export function slopeTable(samples: readonly Sample[], loadEnd: number): string {
  const loaded = samples.filter(({ minutes }) => minutes <= loadEnd);
  const warm = loaded.filter(({ minutes }) => minutes >= loadEnd * warmUp);
  const names = [...new Set(samples.flatMap(({ values }) => Object.keys(values)))];
  const jobsAnHour = slope(warm, 'jobs')?.perHour ?? 0;
  const rows = names.map((name) => {
    const own = samples.flatMap(({ values }) => (name in values ? [values[name]!] : []));
    const at = (sample: Sample | undefined) => shown(sample?.values[name]);
    const line = slope(warm, name);
    const grows = line !== null && line.perHour > 3 * line.error;
    return [
      name,
      at(samples[0]),
      at(warm[0]),
      at(loaded.at(-1)),
      at(samples.at(-1)),
      shown(Math.max(...own)),
      shown(line?.perHour),
      shown(line?.error),
      shown(line && jobsAnHour > 0 ? (line.perHour / jobsAnHour) * 1_000 : undefined),
      grows ? 'grows' : '',
    ];
  });
  const head = ['value', 'start', 'warm', 'load end', 'rest', 'most', 'an hour', 's.e.', '1,000 jobs', ''];
  return [head, ...rows]
    .map((row) => row.map((cell, n) => (n === 0 ? cell.padEnd(24) : cell.padStart(11))).join(''))
    .join('\n');
}

const slope = (samples: readonly Sample[], name: string) =>
  slopeOf(samples.flatMap(({ minutes, values }) => (name in values ? [[minutes, values[name]!] as const] : [])));

const shown = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(1));
