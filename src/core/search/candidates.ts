/** Changes to the summaries of candidates. */
import type { AcceptanceDecision, CandidateSummary, Decision } from './protocol.js';
import type { SearchState } from './state.js';

export function changeCandidate(
  candidates: readonly CandidateSummary[],
  candidate: number,
  changes: Partial<CandidateSummary>,
): CandidateSummary[] {
  return candidates.map((summary) => (summary.candidate === candidate ? { ...summary, ...changes } : summary));
}

type Rejection = Extract<AcceptanceDecision, { type: 'candidate_rejected' }>;

/** The state without a candidate; the decision says why. */
export function reject<State extends SearchState>(
  state: State,
  rejection: Omit<Rejection, 'type'>,
  decisions: Decision[],
): State {
  decisions.push({ type: 'candidate_rejected', ...rejection });
  return rejected(state, rejection.candidate);
}

function rejected<State extends SearchState>(state: State, candidate: number): State {
  return { ...state, candidates: changeCandidate(state.candidates, candidate, { status: 'rejected' }) };
}
