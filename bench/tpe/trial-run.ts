import { seedRng } from '../../src/core/math/random.js';
import { normalDraws, type Family } from './landscapes.js';

/** A sampler: `values` are of the combinations of its last answer, in order; none at first. */
export interface Proposer {
  ask(count: number, values: readonly number[]): Promise<number[][]>;
}

/** Settings of a search. */
export interface Mode {
  name: string;
  /** Standard deviation of the noise, relative to that of the values. */
  noise: number;
  /** Trials per batch. */
  batch: number;
}

export const modes: readonly Mode[] = [
  { name: 'exact', noise: 0, batch: 1 },
  { name: 'noisy', noise: 0.5, batch: 1 },
  { name: 'exact, by five', noise: 0, batch: 5 },
  { name: 'noisy, by five', noise: 0.5, batch: 5 },
];

/** Limit of trials; a search that does not find the optimum counts as this many. */
const cap = 200;

/** The number of trials until the optimum of the seed's function is first tried. */
export async function trialsToOptimum(
  family: Family,
  { noise, batch }: Mode,
  seed: number,
  open: (space: number[], seed: number) => Proposer,
): Promise<number> {
  const { space, valueOf, best, spread } = family.make(seed);
  const draw = normalDraws(seedRng(seed, 2));
  const proposer = open(space, seed);
  let values: number[] = [];
  for (let tried = 0; tried < cap;) {
    const suggested = await proposer.ask(batch, values);
    for (const choices of suggested) {
      tried += 1;
      if (valueOf(choices) >= best - 1e-9) return tried;
    }
    values = suggested.map((choices) => valueOf(choices) + noise * spread * draw());
  }
  return cap;
}
