import { seedRng, uniformInt, type Rng } from '../../src/core/math/random.js';
import { moments, type Point } from '../support/breakpoints.js';

/** A point to kill a session: calls of a kind and stage around the rollouts [from, to). */
export interface CallRange {
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
 * One kill point for each session in each of `waves` equal parts of its rollouts; null: none fits.
 * Chooses the stages and moments met least. Every second answer is delivered, mostly the last of
 * its batch: the search decides after it.
 */
export function planPoints(sessions: readonly CallRange[][], waves: number, dice: Dice): (Point | null)[][] {
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
