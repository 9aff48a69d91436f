/**
 * Which children are worth a full evaluation (GEPA, arXiv 2507.19457, algorithm 1; the reference's
 * `StrictImprovementAcceptance`): those whose sum on the minibatch is strictly better than their parent's.
 *
 * Invariants: equal is not better, whatever the rounding of decimal rewards; when there is not budget for all that are
 * accepted, the greatest gain goes first and among equals the earlier candidate.
 */
import { exceeds } from '../../scores.js';

/** A child after its gate: both sums are over the same minibatch. */
export interface Gated {
  candidate: number;
  parentSum: number;
  childSum: number;
}

export type Rejection = 'not_better' | 'budget';

/** For each child why it is rejected, or null when it is to be evaluated; at most `affordable` are. */
export function gate(children: readonly Gated[], affordable: number): Map<number, Rejection | null> {
  const better = children.filter((child) => exceeds(child.childSum, child.parentSum));
  const byGain = better.sort((left, right) => gainOf(right) - gainOf(left) || left.candidate - right.candidate);
  const evaluated = new Set(byGain.slice(0, affordable).map((child) => child.candidate));
  const accepted = new Set(better.map((child) => child.candidate));
  const verdict = ({ candidate }: Gated): Rejection | null => {
    if (!accepted.has(candidate)) return 'not_better';
    return evaluated.has(candidate) ? null : 'budget';
  };
  return new Map(children.map((child) => [child.candidate, verdict(child)]));
}

function gainOf(child: Gated): number {
  return child.childSum - child.parentSum;
}
