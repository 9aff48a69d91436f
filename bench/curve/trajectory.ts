import type { Texts, WorldKind } from '../worlds/world.js';

/** Proposals a generation of the service's searches: their tests share the slots. */
export const populationSize = 4;

/** Which search: everything that a trajectory depends on. */
export interface Search<Kind extends string = WorldKind> {
  /** Who searched, with version and options. */
  optimizer: string;
  kind: Kind;
  world: number;
  shuffledFeedback: boolean;
  maxRollouts: number;
  /** The hash of the worlds: with another one the search is another one. */
  worlds: string;
}

/** From `rollouts` spent on, what the optimizer would return has this true reward. */
export interface CurveStep {
  rollouts: number;
  trueReward: number;
}

/** How good what a search would return was, against the rollouts that it had spent. A line of the file of searches. */
export interface Trajectory<Kind extends string = WorldKind> extends Search<Kind> {
  /** Spent in all. */
  rollouts: number;
  steps: CurveStep[];
}

/** A candidate with its mean on the evaluation seeds; `rollouts` spent when that was known. */
export interface Validated<Prompt = Texts> {
  texts: Prompt;
  reward: number;
  rollouts: number;
}

/** Two of the same search stand for each other. */
export function keyOf({ optimizer, kind, world, shuffledFeedback, maxRollouts, worlds }: Search<string>): string {
  return JSON.stringify([optimizer, kind, world, shuffledFeedback, maxRollouts, worlds]);
}

/** A step whenever another candidate became the best by validation; ties stay with the earlier one. */
export function curveOf<Prompt = Texts>(
  candidates: readonly Validated<Prompt>[],
  trueReward: (texts: Prompt) => number,
): CurveStep[] {
  const steps: CurveStep[] = [];
  let best = -Infinity;
  for (const { texts, reward, rollouts } of candidates) {
    if (reward <= best) continue;
    best = reward;
    steps.push({ rollouts, trueReward: trueReward(texts) });
  }
  return steps;
}

/** The true reward after `rollouts`; that of the first candidate where none was validated by then. */
export function rewardAt(steps: readonly CurveStep[], rollouts: number): number {
  const step = steps.findLast((known) => known.rollouts <= rollouts) ?? steps[0];
  if (!step) throw new RangeError('a trajectory without a step: nothing was validated');
  return step.trueReward;
}
