/** What a verifier says of one output; plain JSON. */

/** One of the things that an output is judged by. */
export interface Criterion {
  name: string;
  /** Greater than 0; what counts is its share of the sum. */
  weight: number;
  /** What the judge is told of it. */
  description: string;
}

/** A criterion's part in a verification. */
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
  /** For a reflecting proposer: what was expected, what was given, what is wrong; at most `maxFeedback` characters. */
  feedback: string;
  /** Where the reward is the weighted mean of several scores. */
  criteria?: CriterionScore[];
}

/** The weighted mean of at least one score, 0 to 1. */
export function weightedMean(scores: readonly Pick<CriterionScore, 'score' | 'weight'>[]): number {
  const total = scores.reduce((sum, { weight }) => sum + weight, 0);
  const mean = scores.reduce((sum, { score, weight }) => sum + score * (weight / total), 0);
  // Shares of the total do not always add up to exactly 1.
  return scores.every(({ score }) => score === 1) ? 1 : Math.min(1, mean);
}
