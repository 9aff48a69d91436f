/** Reward and cost of the evaluated candidates. */
import type { Candidate, Pareto, SensorFrame } from '../../../../data/session/types.js';

/** What a rollout costs; tokens where a price is unknown or everything is free. */
export type Unit = 'dollars' | 'tokens';

export interface Point {
  candidateId: string;
  cost: number;
  reward: number;
  /** Whether it is best on a seed, and no other candidate is as good on all. */
  isFront: boolean;
}

interface Sums {
  rollouts: number;
  dollars: number | null;
  tokens: number | null;
}

type Counted = Pick<SensorFrame, 'candidate_id' | 'sensors'>;

/** The sums of each candidate; null if a frame does not know. */
export function sumsOf(frames: readonly Counted[]): Map<string, Sums> {
  const all = new Map<string, Sums>();
  const plus = (sum: number | null, more: number | null | undefined) =>
    sum === null || more === null || more === undefined ? null : sum + more;
  for (const { candidate_id: id, sensors } of frames) {
    const { rollout, resource } = sensors;
    if (rollout === null || rollout.count === 0) continue;
    const sums = all.get(id) ?? { rollouts: 0, dollars: 0, tokens: 0 };
    const tokens = plus(resource?.prompt_tokens ?? null, resource?.completion_tokens);
    all.set(id, {
      rollouts: sums.rollouts + rollout.count,
      dollars: plus(sums.dollars, resource?.cost_usd),
      tokens: plus(sums.tokens, tokens),
    });
  }
  return all;
}

/** The evaluated candidates whose cost per rollout is known, the cheapest first. */
export function pointsOf(
  candidates: readonly Pick<Candidate, 'candidate_id' | 'reward'>[],
  frames: readonly Counted[],
  front: Pareto['front'],
): { unit: Unit; points: Point[] } {
  const sums = sumsOf(frames);
  const evaluated = candidates.filter(({ reward, candidate_id: id }) => reward !== null && sums.has(id));
  const prices = evaluated.map(({ candidate_id: id }) => sums.get(id)!.dollars);
  const unit = prices.every((price) => price !== null) && prices.some((price) => price! > 0) ? 'dollars' : 'tokens';
  const best = new Set(front.map(({ candidate_id: id }) => id));
  const points = evaluated.flatMap(({ candidate_id: candidateId, reward }) => {
    const { rollouts, [unit]: sum } = sums.get(candidateId)!;
    if (sum === null) return [];
    return [{ candidateId, cost: sum / rollouts, reward: reward!, isFront: best.has(candidateId) }];
  });
  return { unit, points: points.sort((a, b) => a.cost - b.cost || b.reward - a.reward) };
}

/** Of points from cheap to dear, those better than every cheaper one. */
export function tradeOff(points: readonly Point[]): Point[] {
  let best = -Infinity;
  return points.filter(({ reward }) => reward > best && ((best = reward), true));
}
