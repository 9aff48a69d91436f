/** The gains of runs on one axis: only of runs on the same rows and scorer. */
import type { Run } from '../../data/run-types.js';

export interface Gain {
  value: number;
  low: number;
  high: number;
  isHeldOut: boolean;
}

/** The axis of a list: gains from -reach to reach. */
export interface Scale {
  key: string;
  reach: number;
}

/** Winner minus baseline; null: not known. */
export function gainOf({ comparison }: Pick<Run, 'comparison'>): Gain | null {
  if (comparison === null) return null;
  const { difference: value, interval, basis } = comparison;
  return { value, ...interval, isHeldOut: basis === 'heldout' };
}

/** The axis of `wanted`, else of the key that most runs with a gain have; null: no run has one. */
export function scaleOf(runs: readonly Run[], wanted: string | null): Scale | null {
  const byKey = new Map<string, Gain[]>();
  for (const run of runs) {
    const gain = gainOf(run);
    if (gain && run.comparable_key !== null)
      byKey.set(run.comparable_key, [...(byKey.get(run.comparable_key) ?? []), gain]);
  }
  const most = [...byKey].sort(([, a], [, b]) => b.length - a.length)[0]?.[0];
  const key = wanted !== null && byKey.has(wanted) ? wanted : most;
  if (key === undefined) return null;
  const ends = byKey.get(key)!.flatMap(({ value, low, high }) => [value, low, high].map(Math.abs));
  // The interval of one row has no end.
  const reach = Math.max(0.01, ...ends.filter((end) => end !== Number.MAX_VALUE));
  return { key, reach: roundedUp(reach) };
}

/** The next number of one digit, as 0.8 of 0.764. */
function roundedUp(value: number): number {
  const digit = 10 ** Math.floor(Math.log10(value));
  return Number((Math.ceil(value / digit) * digit).toPrecision(1));
}
