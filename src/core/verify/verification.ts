/** A verifier's result for one output, as plain JSON. */

export interface Criterion {
  name: string;
  /** Greater than 0; relative to the sum of all weights. */
  weight: number;
  /** Instruction for the judge. */
  description: string;
}

export interface CriterionScore {
  name: string;
  /** 0 to 1. */
  score: number;
  weight: number;
  reason: string;
}

export interface Verification {
  /** 0 to 1. */
  reward: number;
  /** For the reflection: expected and given value; at most `maxFeedback` characters. */
  feedback: string;
  /** Present if the reward is a weighted mean of several scores. */
  criteria?: CriterionScore[];
  /** Further details from an http scorer. */
  details?: Record<string, unknown>;
}

/** The weighted mean, 0 to 1; requires at least one score. */
export function weightedMean(scores: readonly Pick<CriterionScore, 'score' | 'weight'>[]): number {
  const total = scores.reduce((sum, { weight }) => sum + weight, 0);
  const mean = scores.reduce((sum, { score, weight }) => sum + score * (weight / total), 0);
  // Shares of the total do not always add up to exactly 1.
  return scores.every(({ score }) => score === 1) ? 1 : Math.min(1, mean);
}
