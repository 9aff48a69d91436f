import { seedRng, uniformInt, type Rng } from '../../src/core/math/random.js';
import { moments, type Point } from '../support/breakpoints.js';

/** A point to kill a session: calls of a kind and stage around the rollouts [from, to). */
export interface Place {
  stage: string;
  what: Point['what'];
  from: number;
  to: number;
}

/** Distance between two points, so that prefetched work of the first is not beyond the second. */
const apart = 4;

/** All that is left to chance, from one seed. */
export class Dice {
  private rng: Rng;

  constructor(seed: number) {
    this.rng = seedRng(seed);
  }

  below(count: number): number {
    const [drawn, next] = uniformInt(this.rng, count);
    this.rng = next;
    return drawn;
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }
}

/** Those whose name was met the fewest times. */
function leastMet<T>(choices: readonly T[], nameOf: (choice: T) => string, met: ReadonlyMap<string, number>): T[] {
  const timesOf = (choice: T) => met.get(nameOf(choice)) ?? 0;
  const fewest = Math.min(...choices.map(timesOf));
  return choices.filter((choice) => timesOf(choice) === fewest);
}

/**
 * Points of each session, in `waves` equal parts of its rollouts one in each (null: there is no
 * place in it); of the stages and moments that were met least. At every other the answer is
 * delivered, for there most can go wrong, and mostly it is the last of its batch, after which the
 * search decides.
 */
export function planPoints(sessions: readonly Place[][], waves: number, dice: Dice): (Point | null)[][] {
  const met = new Map<string, number>();
  const points = sessions.map((): (Point | null)[] => []);
  for (let wave = 0; wave < waves; wave += 1) {
    for (const [at, indexes] of sessions.entries()) {
      const total = Math.max(...indexes.map(({ to }) => to));
      const last = points[at]!.findLast((point) => point !== null);
      const least = Math.max(Math.ceil((total * wave) / waves), last ? last.from + apart : 0);
      const most = Math.ceil((total * (wave + 1)) / waves);
      const choices = indexes
        .map((index) => ({ ...index, from: Math.max(index.from, least), to: Math.min(index.to, most) }))
        .filter(({ from, to }) => from < to)
        .flatMap((index) => moments.map((moment) => ({ ...index, moment, key: `${index.stage} ${moment}` })))
        .filter(({ moment }) => (moment === 'delivered') === ((wave + at) % 2 === 0));
      // Stages first: where a stage comes in one part only, the moments of the others must not use
      // that part up.
      const rarest = leastMet(
        leastMet(choices, ({ stage }) => stage, met),
        ({ key }) => key,
        met,
      );
      if (rarest.length === 0) {
        points[at]!.push(null);
        continue;
      }
      const { stage, key, what, from, to, moment } = rarest[dice.below(rarest.length)]!;
      for (const name of [stage, key]) met.set(name, (met.get(name) ?? 0) + 1);
      points[at]!.push({ what, moment, from: dice.below(3) > 0 ? to - 1 : dice.between(from, to - 1) });
    }
  }
  return points;
}
