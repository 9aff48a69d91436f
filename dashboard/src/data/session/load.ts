/** The calls of the page of a session. */
import { client } from '../client.js';
import type { Candidate, CandidateDetail, Results, Session } from './types.js';

export const loadSession = (id: string, signal: AbortSignal): Promise<Session> =>
  client.value.request('getSession', { path: { session_id: id }, signal });

export const loadResults = (id: string, signal: AbortSignal): Promise<Results> =>
  client.value.request('getSessionResults', { path: { session_id: id }, signal });

export const loadCandidate = (id: string, candidateId: string, signal?: AbortSignal): Promise<CandidateDetail> =>
  client.value.request('getSessionCandidate', { path: { session_id: id, candidate_id: candidateId }, signal });

export async function loadCandidates(id: string, signal: AbortSignal): Promise<Candidate[]> {
  const found: Candidate[] = [];
  const pages = client.value.list('listSessionCandidates', {
    path: { session_id: id },
    query: { limit: 200 },
    signal,
  });
  for await (const candidate of pages) found.push(candidate);
  return found;
}
