/**
 * Which of a candidate's rollouts are the ones that counted: where a search asked again because the
 * infrastructure had failed, the later one (see search/batch.ts, whose order of asking again this reads back).
 */

/** As much of a stored rollout as that takes. */
export interface AskedRollout {
  ordinal: number;
  seed: number | null;
  /** It failed, and not through the candidate's fault. */
  infrastructure: boolean;
}

/**
 * For each seed its rollout that counts, or null: it was not asked for. `rollouts` are all of one candidate in one stage.
 * A seed that is listed twice has two.
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
    // What failed is asked again only when all have been asked.
    if (!waiting.some(fits)) waiting.push(...again.splice(0));
    const at = waiting.findIndex(fits);
    if (at < 0) continue;
    const [index] = waiting.splice(at, 1) as [number];
    settled[index] = rollout;
    if (rollout.infrastructure) again.push(index);
  }
  return settled;
}

/** A search asks at most so often again (see search/batch.ts). */
const maxRepeats = 2;

/**
 * Those of a candidate's rollouts on one seed that counted, where nobody says how many batches they come from: each but
 * those that were asked again. `rollouts` are all of its test; no batch of it has the seed twice.
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
