/**
 * Which combination of choices to try next: a Tree-structured Parzen Estimator (Bergstra et al., "Algorithms for
 * Hyper-Parameter Optimization", NeurIPS 2011, section 4; Watanabe, arXiv 2304.11127) over categorical dimensions alone. The
 * best tenth of the trials is good, the others are bad; combinations are drawn from the density of the good ones, and the one
 * that is likeliest under it against that of the bad ones is tried.
 *
 * Where it leaves the usual TPE (measured by bench/tpe): the first trials see every choice of a dimension about equally
 * often; nothing is tried again while anything is untried, with noise too; a kernel is as wide whether there are 4 choices or
 * 20; a combination is judged by its dimensions together and by each of them alone, for interactions show only in the former
 * and single effects sooner in the latter; trials that tie at the border are good and bad in shares.
 *
 * Invariants: of values only the order matters; arguments stay as they are; no logarithms, whose last bits differ between
 * machines.
 */
import { nextUint32, uniformInt, type Rng } from '../../math/random.js';
import { alone, drawFrom, parzen, together, type Draws, type Kernel, type Space } from './parzen.js';

export type { Space };

/** A finished trial: one choice per dimension; greater values are better. */
export interface Trial {
  choices: readonly number[];
  value: number;
}

export interface TpeOptions {
  /** So many trials have to be finished before values count; 10 where not given. */
  startup?: number;
  /** How many combinations are drawn from the good ones' density, of which the best is taken; 24 where not given. */
  draws?: number;
}

/** So many draws for each that is wanted may be of combinations that are taken. */
const patience = 20;

/**
 * The next choices to try; `pending` are those that run and have no value yet (constant liar: they count as bad). The same
 * combination may be in several trials, each with its own value. Once everything has been tried, combinations come again.
 * Throws a RangeError on a value that is not finite, and on choices that are not in the space.
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
 * The best min(⌈n / 10⌉, 25) of n trials against the others and those that run. Trials that tie for the last places share
 * them: each has the same weight on either side.
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

/** One of the choices that were seen least, of each dimension. */
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

/** The first free combination from `start` on, counting like an odometer; there has to be one. */
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
