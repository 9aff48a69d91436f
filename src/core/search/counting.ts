/** What every search of sessions counts the same way. */
import type { CandidateSummary, RolloutRequest } from './protocol.js';

/** The candidates with the rollouts that were asked for and are answered now. */
export function countRollouts(
  candidates: readonly CandidateSummary[],
  answered: readonly RolloutRequest[],
): CandidateSummary[] {
  const added = new Map<number, number>();
  for (const { candidate } of answered) added.set(candidate, (added.get(candidate) ?? 0) + 1);
  return candidates.map((one) => ({ ...one, rolloutCount: one.rolloutCount + (added.get(one.candidate) ?? 0) }));
}
