import { seedRng } from '../../src/core/math/random.js';
import { normalDraws, type Family } from './landscapes.js';

/** What proposes: `values` are those of the combinations of the last answer, in its order; the first call has none. */
export interface Proposer {
  ask(count: number, values: readonly number[]): Promise<number[][]>;
}

/** How a function is searched. */
export interface Mode {
  name: string;
  /** Standard deviation of the noise, in those of the function's values. */
  noise: number;
  /** So many are tried at the same time. */
  batch: number;
}

export const modes: readonly Mode[] = [
  { name: 'exact', noise: 0, batch: 1 },
  { name: 'noisy', noise: 0.5, batch: 1 },
  { name: 'exact, by five', noise: 0, batch: 5 },
  { name: 'noisy, by five', noise: 0.5, batch: 5 },
];

/** More trials than this are not made: a search that has not found the optimum by then counts as so many. */
const cap = 200;

/** After how many trials the optimum of the seed's function is tried first. */
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
    const asked = await proposer.ask(batch, values);
    for (const choices of asked) {
      tried += 1;
      if (valueOf(choices) >= best - 1e-9) return tried;
    }
    values = asked.map((choices) => valueOf(choices) + noise * spread * draw());
  }
  return cap;
}
