/**
 * Costs of rollouts, for candidates that differ in cost (graphs of model calls). The caller chooses
 * one unit for a search.
 */

/** By candidate: the sum over its successful rollouts, and their number. */
export type Costs = Readonly<Record<string, readonly [sum: number, rollouts: number]>>;

/** Cheaper means below this share of the other's cost: tasks differ in length. */
const cheaper = 0.9;

export function addCosts(costs: Costs, added: readonly { candidate: number; cost: number }[]): Costs {
  const after: Record<string, readonly [number, number]> = { ...costs };
  for (const { candidate, cost } of added) {
    const [sum, rollouts] = after[candidate] ?? [0, 0];
    after[candidate] = [sum + cost, rollouts + 1];
  }
  return after;
}

/** Whether a candidate's mean cost is clearly less than another's; false if one is unknown. */
export function isCheaper(costs: Costs | undefined, candidate: number, than: number): boolean {
  const own = costs?.[candidate];
  const other = costs?.[than];
  if (!own || !other) return false;
  return own[0] / own[1] < cheaper * (other[0] / other[1]);
}
