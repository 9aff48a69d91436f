import { mean } from '../src/core/math/rewards.js';
import type { RewardEstimate } from '../src/core/search/reward-estimate.js';

/** The estimate of an accepted candidate beside its true reward. */
export interface CheckedEstimate extends RewardEstimate {
  truth: number;
}

/** The mean of estimate minus truth, and the share of intervals with the truth; 0 without any. */
export function accuracyOf(estimates: readonly CheckedEstimate[]): { bias: number; covered: number } {
  const isCovered = ({ low, high, truth }: CheckedEstimate) => low - 1e-9 <= truth && truth <= high + 1e-9;
  return {
    bias: mean(estimates.map((estimate) => estimate.mean - estimate.truth)) ?? 0,
    covered: mean(estimates.map((estimate) => Number(isCovered(estimate)))) ?? 0,
  };
}
