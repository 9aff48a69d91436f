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

interface Means {
  /** A failed rollout counts `worst`, the worst reward, at most 0. */
  candidate: number[];
  /** Failed rollouts do not count. */
  incumbent: readonly (number | null)[] | null;
  worst: number;
  /** Indexes of the seeds on which a side got two rewards. */
  flipped: number[];
}

/** The means of first and second rollouts. */
function withRepeats({ candidate, incumbent, repeats }: RepeatedRewards): Means {
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

/** Both sides on the seeds where the incumbent has a reward. */
export interface ComparedPairs extends Means {
  ours: number[];
  theirs: number[];
  /** `ours` minus `theirs`. */
  tested: Tested;
}

/**
 * Compares the means of first and second rollouts. The interval covers that of the first rollouts,
 * too: a difference must show in both.
 */
export function compareRepeated({ repeats, ...first }: RepeatedRewards): ComparedPairs {
  const once = comparePairs(first);
  if (!repeats) return once;
  const both = comparePairs({ ...first, repeats });
  const low = Math.min(once.tested.low, both.tested.low);
  const high = Math.max(once.tested.high, both.tested.high);
  return { ...both, tested: { ...both.tested, low, high } };
}

function comparePairs(rewards: RepeatedRewards): ComparedPairs {
  const means = withRepeats(rewards);
  const pairs = (means.incumbent ?? []).flatMap((reward, at) =>
    reward === null ? [] : [[means.candidate[at]!, reward] as const],
  );
  const [ours, theirs] = [pairs.map(([reward]) => reward), pairs.map(([, reward]) => reward)];
  return { ...means, ours, theirs, tested: testPaired(ours, theirs) };
}
