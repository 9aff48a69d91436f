/** Failures of the incumbent to learn from; each live call is an instance of its own. */
import type { GepaConfig } from '../gepa/config.js';
import { minibatchOf } from '../../search/config.js';
import type { Measured } from '../../search/round.js';
import { isSolved } from '../../math/rewards.js';

/** A rollout below the solved reward, and how many reflections were shown it. */
export type Failure = readonly [ordinal: number, shown: number];

/** The most failures that the reflections of a generation choose from. */
export const maxOffered = 60;
/** The most failures of the incumbent that are kept: the latest. */
export const maxKept = 200;

/** The latest `most` failures, with those among further rollouts. */
export function addFailures(failures: readonly Failure[], measured: readonly Measured[], most: number): Failure[] {
  const further = measured.filter(({ reward }) => !isSolved(reward)).map(({ ordinal }): Failure => [ordinal, 0]);
  return [...failures, ...further].sort(([left], [right]) => left - right).slice(-most);
}

/** The rollouts for a generation's reflections: least shown first, then latest first. */
export function offeredFailures(failures: readonly Failure[], config: GepaConfig): { ordinal: number }[] {
  const most = Math.min(4 * minibatchOf(config) * config.populationSize, maxOffered);
  return [...failures]
    .sort(([left, leftShown], [right, rightShown]) => leftShown - rightShown || right - left)
    .slice(0, most)
    .map(([ordinal]) => ({ ordinal }));
}

/** Whether a minibatch of failures was never shown. */
export function hasEnoughFailures(failures: readonly Failure[], config: GepaConfig): boolean {
  const neverShown = failures.filter(([, shown]) => shown === 0).length;
  return neverShown >= Math.min(minibatchOf(config), maxOffered);
}

/** The failures after reflections were shown some of them. */
export function countShown(failures: readonly Failure[], shown: ReadonlySet<number>): Failure[] {
  return failures.map(([ordinal, times]): Failure => [ordinal, shown.has(ordinal) ? times + 1 : times]);
}
