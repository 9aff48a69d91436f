/** The candidates of a search as summaries. */
import type { CandidateSummary, RolloutRequest } from './protocol.js';

/** The candidates with further completed rollouts. */
export function countRollouts(
  candidates: readonly CandidateSummary[],
  completed: readonly RolloutRequest[],
): CandidateSummary[] {
  const added = new Map<number, number>();
  for (const { candidate } of completed) added.set(candidate, (added.get(candidate) ?? 0) + 1);
  return candidates.map((summary) => ({
    ...summary,
    rolloutCount: summary.rolloutCount + (added.get(summary.candidate) ?? 0),
  }));
}

/** The candidates with changes to one of them. */
export function changeCandidate(
  candidates: readonly CandidateSummary[],
  candidate: number,
  changes: Partial<CandidateSummary>,
): CandidateSummary[] {
  return candidates.map((summary) => (summary.candidate === candidate ? { ...summary, ...changes } : summary));
}
