import { mean } from '../src/core/math/rewards.js';
import type { RewardEstimate } from '../src/core/search/reward-model.js';

/** The estimate of an accepted candidate, and its expected reward with noise. */
export interface CheckedEstimate extends RewardEstimate {
  truth: number;
}

export interface Accuracy {
  /** The mean of estimate minus truth. */
  bias: number;
  /** The share of intervals with the truth. */
  covered: number;
  /** The mean width of the intervals. */
  width: number;
}

/** The accuracy of estimates; 0 without any. */
export function accuracyOf(estimates: readonly CheckedEstimate[]): Accuracy {
  const isCovered = ({ low, high, truth }: CheckedEstimate) => low - 1e-9 <= truth && truth <= high + 1e-9;
  return {
    bias: mean(estimates.map((estimate) => estimate.mean - estimate.truth)) ?? 0,
    covered: mean(estimates.map((estimate) => Number(isCovered(estimate)))) ?? 0,
    width: mean(estimates.map(({ low, high }) => high - low)) ?? 0,
  };
}
