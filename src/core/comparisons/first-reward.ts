/** The reward that pages, reports and commands show first, and its name. */
import type { Unit } from '../jobs/unit.js';
import type { Interval } from '../math/mean-interval.js';
import { counted } from '../math/words.js';

/** What is known of the rewards of a search, by the names of the API. */
interface KnownRewards {
  comparison: {
    basis: 'heldout' | 'evaluation';
    seeds: number;
    baseline_reward: number;
    winner_reward: number;
    winner_interval: Interval;
  } | null;
  /** Of the best prompt so far, on the rows that select. */
  best_reward: number | null;
  best_reward_interval?: Interval | null;
  baseline_reward?: number | null;
}

interface FirstReward {
  /** Of the winner, else of the best prompt so far. */
  reward: number;
  /** 95 %, for unseen rows; null: not known. */
  interval: Interval | null;
  /** On the same rows; null: not known. */
  baseline: number | null;
  /** On rows that the search has not seen. */
  isHeldOut: boolean;
  /** Of how many rows; null: not known. */
  rows: number | null;
}

/**
 * The reward on held-out rows once they are compared, else the estimate on the rows that the search
 * saw, of which there are `seen`. Null: nothing is measured yet.
 */
export function firstReward(known: KnownRewards, seen: number | null = null): FirstReward | null {
  const { comparison, best_reward: best } = known;
  if (comparison) {
    const { basis, seeds: rows, baseline_reward: baseline, winner_reward: reward } = comparison;
    return { reward, interval: comparison.winner_interval, baseline, isHeldOut: basis === 'heldout', rows };
  }
  if (best === null) return null;
  const { best_reward_interval: interval = null, baseline_reward: baseline = null } = known;
  return { reward: best, interval, baseline, isHeldOut: false, rows: seen };
}

/** As `Reward on 33 held-out rows` or `Estimate on 27 rows that the search saw`. */
export function firstRewardName(of: Pick<FirstReward, 'isHeldOut' | 'rows'>, unit: Unit = 'row'): string {
  const { isHeldOut, rows } = of;
  const some = (noun: string) => (rows === null ? `${noun}s` : counted(rows, noun));
  return isHeldOut ? `Reward on ${some(`held-out ${unit}`)}` : `Estimate on ${some(unit)} that the search saw`;
}
