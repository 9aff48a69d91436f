/** A candidate's reward, and the cost of one of its rollouts; null: unknown. */
export interface RewardAndCost {
  reward: number;
  costUsd: number | null;
  tokens: number | null;
  calls: number;
}

/**
 * The candidates that no other dominates (at least the reward, at most the cost, one strictly
 * better), the cheapest first. One measure of cost for all: dollars if known for all and not all 0
 * (the provider `local`), else tokens, else calls.
 */
export function costFront<Candidate extends RewardAndCost>(all: readonly Candidate[]): Candidate[] {
  const measures: ((candidate: RewardAndCost) => number | null)[] = [({ costUsd }) => costUsd, ({ tokens }) => tokens];
  const known = measures.find(
    (measure) =>
      all.every((candidate) => measure(candidate) !== null) && all.some((candidate) => measure(candidate)! > 0),
  );
  const costOf = (candidate: RewardAndCost) => known?.(candidate) ?? candidate.calls;
  const dominates = (candidate: RewardAndCost, other: RewardAndCost) =>
    candidate.reward >= other.reward &&
    costOf(candidate) <= costOf(other) &&
    (candidate.reward > other.reward || costOf(candidate) < costOf(other));
  return all
    .filter((candidate) => !all.some((other) => dominates(other, candidate)))
    .sort((a, b) => costOf(a) - costOf(b));
}
