/**
 * Which candidate becomes a parent (GEPA, arXiv 2507.19457, algorithm 2; the reference's `ParetoCandidateSelector`):
 * of those that are best on some seed the dominated ones are dropped, then one is drawn with the number of seeds it is
 * best on as its weight.
 *
 * Invariants: a candidate is dropped when each of its seeds has another holder that stays; the lowest mean is tried
 * first, among equals the later candidate, so what stays is deterministic. Every seed keeps a holder.
 */
import { countSeeds, toBits, type Front, type Holder } from '../front.js';
import { weightedPick, type Rng } from '../random.js';

/** The holders that stay when dominated ones are dropped, by candidate number. `rewardOf` is a candidate's mean reward. */
export function removeDominated(front: Front, rewardOf: (candidate: number) => number): Holder[] {
  const weakestFirst = [...front.holders].sort(
    (left, right) => rewardOf(left.candidate) - rewardOf(right.candidate) || right.candidate - left.candidate,
  );
  const sets = weakestFirst.map((holder) => toBits(holder.seeds));
  const later: bigint[] = [];
  let union = 0n;
  for (let place = sets.length - 1; place >= 0; place--) {
    later[place] = union;
    union |= sets[place]!;
  }
  // One pass is enough: dropping a candidate only takes cover away, so whoever stays once would stay again.
  let kept = 0n;
  const staying = weakestFirst.filter((_, place) => {
    const dominated = (sets[place]! & ~(kept | later[place]!)) === 0n;
    if (!dominated) kept |= sets[place]!;
    return !dominated;
  });
  return staying.sort((left, right) => left.candidate - right.candidate);
}

/** Draws a parent among the holders that stayed. */
export function pickParent(rng: Rng, holders: readonly Holder[]): [parent: number, next: Rng] {
  const [place, next] = weightedPick(rng, holders.map(countSeeds));
  return [holders[place]!.candidate, next];
}
