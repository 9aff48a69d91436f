import type { CandidateSummary } from './protocol.js';

export function changeCandidate(
  candidates: readonly CandidateSummary[],
  candidate: number,
  changes: Partial<CandidateSummary>,
): CandidateSummary[] {
  return candidates.map((summary) => (summary.candidate === candidate ? { ...summary, ...changes } : summary));
}
