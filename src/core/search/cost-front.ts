/** A candidate's reward, and the cost of one of its rollouts; null: unknown. */
export interface RewardAndCost {
  reward: number;
  costUsd: number | null;
  tokens: number | null;
  calls: number;
}

/** The same with the time of a rollout, and the length of the prompt in estimated tokens. */
export interface Weighed extends RewardAndCost {
  /** Null: an answer was not bought. */
  latencyMs: number | null;
  promptTokens: number;
}

/**
 * The candidates that no other dominates (at least the reward, at most the cost, one strictly
 * better), the cheapest first. One measure of cost for all.
 */
export function costFront<Candidate extends RewardAndCost>(all: readonly Candidate[]): Candidate[] {
  const costOf = costMeasure(all);
  const dominates = (candidate: RewardAndCost, other: RewardAndCost) =>
    candidate.reward >= other.reward &&
    costOf(candidate) <= costOf(other) &&
    (candidate.reward > other.reward || costOf(candidate) < costOf(other));
  return all
    .filter((candidate) => !all.some((other) => dominates(other, candidate)))
    .sort((a, b) => costOf(a) - costOf(b));
}

/** Times closer than this share are alike: they depend on the hour. */
const alike = 0.9;

/**
 * The candidates that no other dominates in reward, cost, time and length of the prompt, the best
 * reward first. Cost is measured as in `costFront`; time only if it is known for all.
 */
export function weighedFront<Candidate extends Weighed>(all: readonly Candidate[]): Candidate[] {
  const costOf = costMeasure(all);
  const isTimed = all.every(({ latencyMs }) => latencyMs !== null);
  const dominates = (candidate: Candidate, other: Candidate) => {
    const [time, otherTime] = isTimed ? [candidate.latencyMs!, other.latencyMs!] : [0, 0];
    const isNowhereWorse =
      candidate.reward >= other.reward &&
      costOf(candidate) <= costOf(other) &&
      candidate.promptTokens <= other.promptTokens &&
      time * alike <= otherTime;
    const isBetter =
      candidate.reward > other.reward ||
      costOf(candidate) < costOf(other) ||
      candidate.promptTokens < other.promptTokens ||
      time < otherTime * alike;
    return isNowhereWorse && isBetter;
  };
  const ranked = [...all].sort(
    (left, right) =>
      right.reward - left.reward || costOf(left) - costOf(right) || left.promptTokens - right.promptTokens,
  );
  // Likeness is not transitive, so each is compared with those that stay.
  return ranked.reduce<Candidate[]>(
    (front, candidate) => (front.some((other) => dominates(other, candidate)) ? front : [...front, candidate]),
    [],
  );
}

/** Dollars if known for all and not all 0 (the provider `local`), else tokens, else calls. */
function costMeasure(all: readonly RewardAndCost[]): (candidate: RewardAndCost) => number {
  const measures: ((candidate: RewardAndCost) => number | null)[] = [({ costUsd }) => costUsd, ({ tokens }) => tokens];
  const known = measures.find(
    (measure) =>
      all.every((candidate) => measure(candidate) !== null) && all.some((candidate) => measure(candidate)! > 0),
  );
  return (candidate) => known?.(candidate) ?? candidate.calls;
}
