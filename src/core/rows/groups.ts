/** How a candidate does on a row, beside the baseline. */
import { mean } from '../math/rewards.js';

/** In the order in which people look at them. */
export const rowGroups = ['failing', 'broken', 'flaky', 'failed', 'fixed', 'right', 'untried'] as const;
export type RowGroup = (typeof rowGroups)[number];

/** An answer with at least this reward is right, as for labels of a judge. */
const rightReward = 0.5;

export const isRight = (reward: number): boolean => reward >= rightReward;

/** The finished rollouts of a candidate on a row. */
export interface RowRuns {
  /** Of those that succeeded. */
  rewards: readonly number[];
  /** Those without a reward. */
  failed: number;
}

type Side = 'absent' | 'failed' | 'flaky' | 'right' | 'wrong';

function sideOf({ rewards, failed }: RowRuns): Side {
  if (rewards.length === 0) return failed > 0 ? 'failed' : 'absent';
  const right = rewards.filter(isRight).length;
  if (right === 0) return 'wrong';
  return right === rewards.length ? 'right' : 'flaky';
}

/**
 * The group of a row. `baseline` null: nothing to compare with, as in an evaluation. A side that
 * is right on some repeats and wrong on others makes the row flaky.
 */
export function groupOf(baseline: RowRuns | null, candidate: RowRuns): RowGroup {
  const after = sideOf(candidate);
  if (after === 'absent') return 'untried';
  if (after === 'failed') return 'failed';
  const before = baseline === null ? 'absent' : sideOf(baseline);
  if (after === 'flaky' || before === 'flaky') return 'flaky';
  if (after === 'right') return before === 'wrong' ? 'fixed' : 'right';
  return before === 'right' ? 'broken' : 'failing';
}

/** The mean reward of a side; null: no rollout succeeded. */
export const rewardOf = ({ rewards }: RowRuns): number | null => mean(rewards);
