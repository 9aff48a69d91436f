import type { SeededChoice } from '../harness/seeded-choice.js';
import { moments, type Point } from './breakpoints.js';

/** A point to kill a session: calls of a kind and stage around the rollouts [from, to). */
export interface CallRange {
  stage: string;
  what: Point['what'];
  from: number;
  to: number;
}

/** Least distance between two points of a session, because a worker prefetches rollouts. */
const apart = 4;

/** The choices whose names were used least. */
function leastMet<T>(choices: readonly T[], nameOf: (choice: T) => string, met: ReadonlyMap<string, number>): T[] {
  const timesOf = (choice: T) => met.get(nameOf(choice)) ?? 0;
  const fewest = Math.min(...choices.map(timesOf));
  return choices.filter((choice) => timesOf(choice) === fewest);
}

/**
 * One kill point for each session in each of `rounds` equal parts of its rollouts; null: none fits.
 * Prefers the stages and moments used least, and of these the stage with the fewest ranges. Every
 * second answer is delivered, mostly the last of its batch, which triggers a decision.
 */
export function planPoints(sessions: readonly CallRange[][], rounds: number, choice: SeededChoice): (Point | null)[][] {
  const met = new Map<string, number>();
  const points = sessions.map((): (Point | null)[] => []);
  const rangesOf = (stage: string) => sessions.flat().filter((range) => range.stage === stage).length;
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, indexes] of sessions.entries()) {
      const total = Math.max(...indexes.map(({ to }) => to));
      const last = points[at]!.findLast((point) => point !== null);
      const least = Math.max(Math.ceil((total * round) / rounds), last ? last.from + apart : 0);
      const most = Math.ceil((total * (round + 1)) / rounds);
      const choices = indexes
        .map((index) => ({ ...index, from: Math.max(index.from, least), to: Math.min(index.to, most) }))
        .filter(({ from, to }) => from < to)
        .flatMap((index) => moments.map((moment) => ({ ...index, moment, key: `${index.stage} ${moment}` })))
        .filter(({ moment }) => (moment === 'delivered') === ((round + at) % 2 === 0));
      // Stages first: a stage may occur in one part only, which other stages must not use up.
      const stages = leastMet(choices, ({ stage }) => stage, met);
      const fewest = Math.min(...stages.map(({ stage }) => rangesOf(stage)));
      const rarest = leastMet(
        stages.filter(({ stage }) => rangesOf(stage) === fewest),
        ({ key }) => key,
        met,
      );
      if (rarest.length === 0) {
        points[at]!.push(null);
        continue;
      }
      const { stage, key, what, from, to, moment } = choice.pick(rarest);
      for (const name of [stage, key]) met.set(name, (met.get(name) ?? 0) + 1);
      points[at]!.push({ what, moment, from: choice.between(0, 2) > 0 ? to - 1 : choice.between(from, to - 1) });
    }
  }
  return points;
}
