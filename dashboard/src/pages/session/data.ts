/** What the page of a session shows, and how often it asks again. */
import type { Answer, Item } from '../../../../src/client/index.js';
import { client } from '../../client.js';

export type Session = Answer<'getSession'>;
export type Results = Answer<'getSessionResults'>;
export type Candidate = Item<'listSessionCandidates'>;
export type CandidateDetail = Answer<'getSessionCandidate'>;
export type Status = Session['status'];

export const isActive = (status: Status): boolean => ['pending', 'running', 'paused'].includes(status);

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

/** The number of a candidate in its session: 0 is the baseline. */
export const numberOf = (candidateId: string): string => `#${candidateId.slice(candidateId.lastIndexOf('_') + 1)}`;
