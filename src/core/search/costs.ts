/**
 * What rollouts cost, where candidates do not all cost the same: graphs of model calls do not. Of what does equally well the
 * cheaper is better. The unit is the caller's, one for all of a search. Plain JSON.
 */

/** By candidate, in decimal: the sum over its rollouts that came to a reward, and their number. */
export type Costs = Readonly<Record<string, readonly [sum: number, rollouts: number]>>;

/** Below this share of the other's cost it counts as cheaper: tasks differ in length, and prompts by a sentence. */
const cheaper = 0.9;

/** The costs with further rollouts', each of a candidate. */
export function addCosts(costs: Costs, added: readonly { candidate: number; cost: number }[]): Costs {
  const after: Record<string, readonly [number, number]> = { ...costs };
  for (const { candidate, cost } of added) {
    const [sum, rollouts] = after[candidate] ?? [0, 0];
    after[candidate] = [sum + cost, rollouts + 1];
  }
  return after;
}

/** Whether a rollout of a candidate costs clearly less than one of another, on average; false where it is not known of both. */
export function isCheaper(costs: Costs | undefined, candidate: number, than: number): boolean {
  const own = costs?.[candidate];
  const other = costs?.[than];
  if (!own || !other) return false;
  return own[0] / own[1] < cheaper * (other[0] / other[1]);
}
