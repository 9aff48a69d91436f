/**
 * Costs of rollouts, for searches whose candidates differ in cost (graphs of model calls). Of equal
 * rewards the cheaper candidate is better. The caller chooses one unit for a search. Plain JSON.
 */

/** By candidate: the sum over its successful rollouts, and their number. */
export type Costs = Readonly<Record<string, readonly [sum: number, rollouts: number]>>;

/**
 * Cheaper means below this share of the other's cost: tasks differ in length, and prompts by a
 * sentence.
 */
const cheaper = 0.9;

/** The costs with those of further rollouts. */
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
