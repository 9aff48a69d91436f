/**
 * Rewards of two sides on the same seeds. Those on which they differ are run a second time on both:
 * a model that answers the same prompt in two ways looks like a difference of the sides.
 */

import { testPaired, type Tested } from './statistics.js';

/** In the order of the seeds; null: the rollout failed. */
export interface RepeatedRewards {
  candidate: readonly (number | null)[];
  /** null: it was not run. */
  incumbent: readonly (number | null)[] | null;
  /** Of the second rollouts, in the order of `changedSeeds`. */
  repeats?: { candidate: readonly (number | null)[]; incumbent: readonly (number | null)[] };
}

type FirstRewards = Pick<RepeatedRewards, 'candidate' | 'incumbent'>;

/** Indexes of the seeds on which the sides differ. */
export function changedSeeds({ candidate, incumbent }: FirstRewards): number[] {
  if (incumbent === null) return [];
  return candidate.flatMap((reward, at) => (incumbent[at] === null || incumbent[at] === reward ? [] : [at]));
}

/**
 * The means of first and second rollouts. Failed rollouts of the candidate count `worst`, the
 * worst reward, at most 0; those of the incumbent do not count. `flipped`: indexes of the seeds on
 * which a side got two rewards.
 */
export function withRepeats({ candidate, incumbent, repeats }: RepeatedRewards) {
  const known = [candidate, incumbent ?? [], repeats?.candidate ?? []].flat().filter((reward) => reward !== null);
  const worst = known.reduce((least, reward) => Math.min(least, reward), 0);
  const ours = candidate.map((reward) => reward ?? worst);
  if (!incumbent || !repeats) return { candidate: ours, incumbent, worst, flipped: [] };
  const theirs = [...incumbent];
  const flipped = changedSeeds({ candidate, incumbent }).filter((seed, at) => {
    const [first, second] = [ours[seed]!, repeats.candidate[at] ?? worst];
    const [before, again] = [incumbent[seed]!, repeats.incumbent[at] ?? incumbent[seed]!];
    ours[seed] = (first + second) / 2;
    theirs[seed] = (before + again) / 2;
    return first !== second || before !== again;
  });
  return { candidate: ours, incumbent: theirs, worst, flipped };
}

/** The rewards of both sides on the seeds where the incumbent has one. */
export function rewardPairs(candidate: readonly number[], incumbent: readonly (number | null)[] | null) {
  const pairs = (incumbent ?? []).flatMap((reward, at) => (reward === null ? [] : [[candidate[at]!, reward] as const]));
  return { ours: pairs.map(([reward]) => reward), theirs: pairs.map(([, reward]) => reward) };
}

/**
 * Candidate less incumbent. With second rollouts the interval covers that of the first ones, too: a
 * difference must show in both.
 */
export function testRepeated({ repeats, ...first }: RepeatedRewards): Tested {
  const testOf = (rewards: RepeatedRewards) => {
    const { candidate, incumbent } = withRepeats(rewards);
    const { ours, theirs } = rewardPairs(candidate, incumbent);
    return testPaired(ours, theirs);
  };
  const once = testOf(first);
  if (!repeats) return once;
  const tested = testOf({ ...first, repeats });
  return { ...tested, low: Math.min(once.low, tested.low), high: Math.max(once.high, tested.high) };
}
