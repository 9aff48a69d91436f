/** What a candidate gives, and what one rollout of it takes; null: not known. */
export interface Weighed {
  reward: number;
  costUsd: number | null;
  tokens: number | null;
  calls: number;
}

/**
 * Those that no other dominates: none has at least the reward and at most the cost with one of them strictly better. The cheapest
 * first. Cost is dollars where they are known of all, else tokens, else calls: one measure for all, so that somebody always stays. What costs
 * nobody anything (dollars, of the provider `local`) tells nobody apart, and is passed over.
 */
export function costFront<One extends Weighed>(all: readonly One[]): One[] {
  const measures: ((one: Weighed) => number | null)[] = [({ costUsd }) => costUsd, ({ tokens }) => tokens];
  const known = measures.find((of) => all.every((one) => of(one) !== null) && all.some((one) => of(one)! > 0));
  const costOf = (one: Weighed) => known?.(one) ?? one.calls;
  const dominates = (one: Weighed, other: Weighed) =>
    one.reward >= other.reward &&
    costOf(one) <= costOf(other) &&
    (one.reward > other.reward || costOf(one) < costOf(other));
  return all.filter((one) => !all.some((other) => dominates(other, one))).sort((a, b) => costOf(a) - costOf(b));
}
