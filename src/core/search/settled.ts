/**
 * The rollouts of a candidate that counted: after an infrastructure failure the repeated one.
 * Follows the order of repetition in search/batch.ts.
 */

/** The rollout fields needed here. */
export interface AskedRollout {
  ordinal: number;
  seed: number | null;
  /** It failed, and the candidate did not cause it. */
  infrastructure: boolean;
}

/**
 * For each seed the rollout that counts; null: it was not requested. `rollouts` are all of one
 * candidate in one stage. A seed that is listed twice has two.
 */
export function settledRollouts<R extends AskedRollout>(
  seeds: readonly number[],
  rollouts: readonly R[],
): (R | null)[] {
  const settled: (R | null)[] = seeds.map(() => null);
  const waiting = [...seeds.keys()];
  const again: number[] = [];
  for (const rollout of [...rollouts].sort((a, b) => a.ordinal - b.ordinal)) {
    const fits = (index: number) => seeds[index] === rollout.seed;
    // Failures are requested again only after all seeds were requested.
    if (!waiting.some(fits)) waiting.push(...again.splice(0));
    const at = waiting.findIndex(fits);
    if (at < 0) continue;
    const [index] = waiting.splice(at, 1) as [number];
    settled[index] = rollout;
    if (rollout.infrastructure) again.push(index);
  }
  return settled;
}

/** As in search/batch.ts. */
const maxRepeats = 2;

/**
 * The rollouts of a candidate on one seed that count, from an unknown number of batches: all but
 * those that were requested again. `rollouts` are all of its test; no batch has the seed twice.
 */
export function countedRollouts<R extends AskedRollout>(rollouts: readonly R[]): R[] {
  const counted: R[] = [];
  let failures = 0;
  const inOrder = [...rollouts].sort((a, b) => a.ordinal - b.ordinal);
  for (const [index, rollout] of inOrder.entries()) {
    failures = rollout.infrastructure ? failures + 1 : 0;
    const again = failures > 0 && failures <= maxRepeats && index + 1 < inOrder.length;
    if (again) continue;
    counted.push(rollout);
    failures = 0;
  }
  return counted;
}
