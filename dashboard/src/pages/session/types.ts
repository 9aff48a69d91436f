/** The answers that the page of a session shows. */
import type { Answer, Item } from '../../../../src/client/index.js';

export type Session = Answer<'getSession'>;
export type Results = Answer<'getSessionResults'>;
export type Candidate = Item<'listSessionCandidates'>;
export type CandidateDetail = Answer<'getSessionCandidate'>;
export type Status = Session['status'];

export const isActive = (status: Status): boolean => ['pending', 'running', 'paused'].includes(status);

/** The number of a candidate in its session: 0 is the baseline. */
export const numberOf = (candidateId: string): string => `#${candidateId.slice(candidateId.lastIndexOf('_') + 1)}`;
