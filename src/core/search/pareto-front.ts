/**
 * The Pareto front per evaluation seed (GEPA, arXiv 2507.19457, section 3.3): the best score, and
 * all candidates that have it.
 * Invariants: the score matrix is not kept; a candidate's seeds are one hexadecimal bit set (250
 * characters for 1,000 seeds); the order in which candidates are added does not matter.
 */

export interface Front {
  /** The best score on each evaluation seed, in their order; empty before the first candidate. */
  best: number[];
  holders: Holder[];
}

export interface Holder {
  candidate: number;
  /** Hexadecimal bit set of indexes into the evaluation seeds. */
  seeds: string;
}

export const emptyFront: Front = { best: [], holders: [] };

/** The front with a candidate's scores, one for each evaluation seed in order. */
export function addToFront(front: Front, candidate: number, scores: readonly number[]): Front {
  const before = front.best.length === 0 ? scores.map(() => -Infinity) : front.best;
  if (scores.length !== before.length) {
    throw new Error(`candidate ${candidate} has ${scores.length} scores, the front has ${before.length} seeds`);
  }
  const better = bitsWhere(scores, (score, seed) => score > before[seed]!);
  const holds = bitsWhere(scores, (score, seed) => score >= before[seed]!);
  const holders = front.holders.map((holder) => ({ ...holder, seeds: fromBits(toBits(holder.seeds) & ~better) }));
  return {
    best: scores.map((score, seed) => Math.max(score, before[seed]!)),
    holders: [...holders, { candidate, seeds: fromBits(holds) }].filter((holder) => holder.seeds !== '0'),
  };
}

export function toBits(seeds: string): bigint {
  return BigInt(`0x${seeds}`);
}

export function countSeeds(holder: Holder): number {
  let count = 0;
  for (const digit of holder.seeds) {
    for (let bits = parseInt(digit, 16); bits > 0; bits >>= 1) count += bits & 1;
  }
  return count;
}

/**
 * The holders without dominated ones (GEPA, algorithm 2). A holder is dropped if each of its seeds
 * has another holder that stays: lowest mean reward first, later candidate first.
 */
export function removeDominated(front: Front, rewardOf: (candidate: number) => number): Holder[] {
  const weakestFirst = [...front.holders].sort(
    (left, right) => rewardOf(left.candidate) - rewardOf(right.candidate) || right.candidate - left.candidate,
  );
  const sets = weakestFirst.map((holder) => toBits(holder.seeds));
  const later: bigint[] = [];
  let union = 0n;
  for (let index = sets.length - 1; index >= 0; index--) {
    later[index] = union;
    union |= sets[index]!;
  }
  // One pass suffices: a drop only removes cover, so a holder that stays once would stay again.
  let kept = 0n;
  const staying = weakestFirst.filter((_, index) => {
    const dominated = (sets[index]! & ~(kept | later[index]!)) === 0n;
    if (!dominated) kept |= sets[index]!;
    return !dominated;
  });
  return staying.sort((left, right) => left.candidate - right.candidate);
}

function fromBits(bits: bigint): string {
  return bits.toString(16);
}

function bitsWhere(scores: readonly number[], test: (score: number, seed: number) => boolean): bigint {
  const digits = scores.map((score, seed) => (test(score, seed) ? '1' : '0')).reverse();
  return BigInt(`0b${digits.join('')}`);
}
