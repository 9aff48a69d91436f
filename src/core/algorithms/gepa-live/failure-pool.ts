/** What there is to learn from: rollouts of the incumbent that failed. Each live call stands for itself. */
import type { GepaConfig } from '../gepa/config.js';
import { minibatchOf } from '../../search/config.js';
import { isSolved } from '../../math/rewards.js';

/** A rollout below the perfect score, and how often a reflection was shown it. */
export type Failure = readonly [ordinal: number, shown: number];

/** A rollout that is answered; one that failed has reward 0. */
export interface Answered {
  candidate: number;
  ordinal: number;
  reward: number;
}

/** The most failures that reflections of a generation choose from. */
export const maxOffered = 60;
/** The most failures of the incumbent that are kept: the latest. */
export const maxKept = 200;

/** The failures with those among further rollouts, `most` of them at most: the latest. */
export function addFailures(failures: readonly Failure[], answered: readonly Answered[], most: number): Failure[] {
  const further = answered.filter(({ reward }) => !isSolved(reward)).map(({ ordinal }): Failure => [ordinal, 0]);
  return [...failures, ...further].sort(([left], [right]) => left - right).slice(-most);
}

/** The ordinals that are offered to a generation's reflections: those never shown first, then the latest. */
export function offeredOf(failures: readonly Failure[], config: GepaConfig): number[] {
  const most = Math.min(4 * minibatchOf(config) * config.populationSize, maxOffered);
  return [...failures]
    .sort(([left, leftShown], [right, rightShown]) => leftShown - rightShown || right - left)
    .slice(0, most)
    .map(([ordinal]) => ordinal);
}

/** Whether enough failures were never shown. */
export function isMaterialEnough(failures: readonly Failure[], config: GepaConfig): boolean {
  const fresh = failures.filter(([, shown]) => shown === 0).length;
  return fresh >= Math.min(minibatchOf(config), maxOffered);
}

/** The failures of which some were shown once more. */
export function countShown(failures: readonly Failure[], shown: ReadonlySet<number>): Failure[] {
  return failures.map(([ordinal, times]): Failure => [ordinal, shown.has(ordinal) ? times + 1 : times]);
}
