/** What sessions and graph jobs have in common. */
import type { Answer, Item } from '../../../src/client/index.js';

export type SearchJob = Answer<'getSession'> | Answer<'getGraphJob'>;
export type Candidate = Item<'listSessionCandidates'> | Item<'listGraphJobCandidates'>;
export type CandidateDetail = Answer<'getSessionCandidate'> | Answer<'getGraphJobCandidate'>;
export type Status = SearchJob['status'];

type SessionResults = Answer<'getSessionResults'>;
/** What the search has found: the results of a session, or a graph job itself. */
export type Results = Pick<
  SessionResults,
  'verdict' | 'comparison' | 'noise_floor' | 'stopped_by' | 'best_candidate' | 'history' | 'diagnosis'
> & { judge_agreement?: SessionResults['judge_agreement'] };

/** The number of a candidate in its job: 0 is the baseline. */
export const numberOf = (candidateId: string): string => `#${candidateId.slice(candidateId.lastIndexOf('_') + 1)}`;
