/** The Pareto front per evaluation seed (GEPA, arXiv 2507.19457, section 3.3). */

export interface Front {
  /** The best score on each evaluation seed, in their order; empty without candidates. */
  best: number[];
  holders: Holder[];
}

export interface Holder {
  candidate: number;
  /** Indexes of the evaluation seeds on which it is best, alone or tied; at least one. */
  seeds: number[];
}

/** The front of candidates by their scores, one for each evaluation seed in order. */
export function paretoFront(scores: ReadonlyMap<number, readonly number[]>): Front {
  const best: number[] = [];
  for (const own of scores.values()) {
    for (const [seed, score] of own.entries()) best[seed] = Math.max(score, best[seed] ?? -Infinity);
  }
  const holders = [...scores].map(([candidate, own]): Holder => {
    return { candidate, seeds: [...own.keys()].filter((seed) => own[seed] === best[seed]) };
  });
  return { best, holders: holders.filter(({ seeds }) => seeds.length > 0) };
}

/**
 * The holders without dominated ones (GEPA, algorithm 2). A holder is dropped if each of its seeds
 * has another holder that stays: lowest mean reward first, later candidate first.
 */
export function removeDominated({ best, holders }: Front, rewardOf: (candidate: number) => number): Holder[] {
  const holdersOf = best.map(() => 0);
  for (const { seeds } of holders) for (const seed of seeds) holdersOf[seed]! += 1;
  const weakestFirst = [...holders].sort(
    (left, right) => rewardOf(left.candidate) - rewardOf(right.candidate) || right.candidate - left.candidate,
  );
  // One pass suffices: a drop only removes cover, so a holder that stays once would stay again.
  const staying = weakestFirst.filter(({ seeds }) => {
    if (seeds.some((seed) => holdersOf[seed] === 1)) return true;
    for (const seed of seeds) holdersOf[seed]! -= 1;
    return false;
  });
  return staying.sort((left, right) => left.candidate - right.candidate);
}
