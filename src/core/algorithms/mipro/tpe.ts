/**
 * A Tree-structured Parzen Estimator (Bergstra et al., "Algorithms for Hyper-Parameter
 * Optimization", NeurIPS 2011, section 4; Watanabe, arXiv 2304.11127) over categorical dimensions.
 * The best tenth of the trials is good, the others are bad. Combinations are drawn from the density
 * of the good trials; the next trial is the draw with the greatest ratio of good to bad density.
 * Differences from the usual TPE:
 * - The first trials see every choice of a dimension about equally often.
 * - No combination is repeated while another is untried, with noise too.
 * - The width of a kernel does not depend on the number of choices.
 * - The ratio multiplies joint and marginal densities: interactions show only in the former, single
 * effects sooner in the latter.
 * - Trials that tie at the border are partly good and partly bad.
 * Invariants: only the order of values matters; no logarithms, whose last bits differ between
 * machines.
 */
import { nextUint32, uniformInt, type Rng } from '../../math/random.js';
import { alone, drawFrom, parzen, together, type Draws, type Kernel, type Space } from './parzen.js';

/** A finished trial: one choice for each dimension; greater values are better. */
export interface Trial {
  choices: readonly number[];
  value: number;
}

export interface TpeOptions {
  /** Finished trials before values count; default 10. */
  startup?: number;
  /** Draws from the good density, of which the best is taken; default 24. */
  draws?: number;
}

/** Draws for each wanted free combination, at most. */
const patience = 20;

/**
 * The next choices to try. `pending` are running trials, counted as bad (constant liar).
 * Combinations repeat once all are tried. Throws a RangeError on invalid trials.
 */
export function suggest(
  rng: Rng,
  space: Space,
  trials: readonly Trial[],
  pending: readonly (readonly number[])[],
  { startup = 10, draws: wanted = 24 }: TpeOptions = {},
): [choices: number[], next: Rng] {
  check(space, trials, pending);
  let next = rng;
  const draw = <T>([value, after]: [T, Rng]): T => {
    next = after;
    return value;
  };
  const draws: Draws = {
    below: (count) => draw(uniformInt(next, count)),
    fraction: () => draw(nextUint32(next)) / 2 ** 32,
  };
  const seen = [...trials.map(({ choices }) => choices), ...pending];
  const taken = new Set(seen.map(keyOf));
  const size = space.reduce((product, count) => product * count, 1);
  const isFree = (choices: readonly number[]) => taken.size >= size || !taken.has(keyOf(choices));

  if (trials.length < Math.max(1, startup)) {
    const [balanced = freeFrom(anywhere(draws, space), space, isFree)] = free(() => minSeen(draws, space, seen), 1);
    return [balanced, next];
  }
  const { good, bad } = split(trials, pending);
  const likely = parzen(space, good);
  const unlikely = parzen(space, bad);
  let best: number[] | undefined;
  let most = -1;
  for (const choices of free((at) => drawFrom(draws, likely, at % 2 === 1), wanted)) {
    const promise =
      (together(likely, choices) / together(unlikely, choices)) * (alone(likely, choices) / alone(unlikely, choices));
    if (promise > most) [best, most] = [choices, promise];
  }
  best ??= freeFrom(anywhere(draws, space), space, isFree);
  return [best, next];

  function free(propose: (at: number) => number[], count: number): number[][] {
    const found: number[][] = [];
    for (let at = 0; at < count * patience && found.length < count; at++) {
      const choices = propose(at);
      if (isFree(choices)) found.push(choices);
    }
    return found;
  }
}

/**
 * Splits n trials into the best min(⌈n / 10⌉, 25) and the others with the running ones. Trials that
 * tie at the border have the same weight on either side.
 */
export function split(
  trials: readonly Trial[],
  pending: readonly (readonly number[])[],
): { good: Kernel[]; bad: Kernel[] } {
  const indexes = Math.min(Math.ceil(trials.length / 10), 25);
  const border = trials.map(({ value }) => value).sort((left, right) => right - left)[indexes - 1]!;
  const above = trials.filter(({ value }) => value > border).length;
  const share = (indexes - above) / trials.filter(({ value }) => value === border).length;
  const goodness = ({ value }: Trial) => (value === border ? share : Number(value > border));
  const kernels = (weightOf: (trial: Trial) => number) =>
    trials.map((trial) => ({ choices: trial.choices, weight: weightOf(trial) })).filter(({ weight }) => weight > 0);
  return {
    good: kernels(goodness),
    bad: [...kernels((trial) => 1 - goodness(trial)), ...pending.map((choices) => ({ choices, weight: 1 }))],
  };
}

/** A random choice among the least seen, for each dimension. */
function minSeen(draws: Draws, space: Space, seen: readonly (readonly number[])[]): number[] {
  return space.map((count, at) => {
    const times = new Array<number>(count).fill(0);
    for (const choices of seen) times[choices[at]!]! += 1;
    const least = Math.min(...times);
    const rare = times.flatMap((time, choice) => (time === least ? [choice] : []));
    return rare[draws.below(rare.length)]!;
  });
}

function anywhere(draws: Draws, space: Space): number[] {
  return space.map((count) => draws.below(count));
}

/** The first free combination from `start` on, counting like an odometer; one must be free. */
function freeFrom(start: readonly number[], space: Space, isFree: (choices: readonly number[]) => boolean): number[] {
  const choices = [...start];
  while (!isFree(choices)) {
    for (let at = 0; at < space.length; at++) {
      choices[at] = (choices[at]! + 1) % space[at]!;
      if (choices[at] !== 0) break;
    }
  }
  return choices;
}

function keyOf(choices: readonly number[]): string {
  return choices.join();
}

function check(space: Space, trials: readonly Trial[], pending: readonly (readonly number[])[]): void {
  const empty = space.findIndex((count) => !Number.isInteger(count) || count < 1);
  if (empty >= 0) throw new RangeError(`dimension ${empty} has ${space[empty]} choices: give an integer from 1 on`);
  const all = [...trials.map(({ choices }) => choices), ...pending];
  const isInside = (choice: number, at: number) => Number.isInteger(choice) && choice >= 0 && choice < space[at]!;
  const outside = all.find((choices) => choices.length !== space.length || !choices.every(isInside));
  if (outside) {
    throw new RangeError(
      `choices [${outside.join()}] are not in the space [${space.join()}]: give one from 0 on for each dimension`,
    );
  }
  const odd = trials.find(({ value }) => !Number.isFinite(value));
  if (odd) throw new RangeError(`the value of [${odd.choices.join()}] is ${odd.value}: give a finite number`);
}
