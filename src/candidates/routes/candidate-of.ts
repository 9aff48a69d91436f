import { refuse } from '../../platform/http/server/errors.js';

/** Rejects malformed ids before the query: Postgres refuses some texts. */
export function candidateOf(candidateId: string): string {
  if (!/^cand_\w+$/.test(candidateId)) throw noCandidate(candidateId);
  return candidateId;
}

export function noCandidate(candidateId: string) {
  return refuse.notFound(`candidate ${candidateId.slice(0, 100)}`);
}
