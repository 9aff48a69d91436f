/** The answers that the page of a graph job shows. */
import type { Answer, Item } from '../../../../src/client/index.js';

export type GraphJob = Answer<'getGraphJob'>;
export type Candidate = Item<'listGraphJobCandidates'>;
export type CandidateDetail = Answer<'getGraphJobCandidate'>;
export type Pareto = Answer<'getGraphJobPareto'>;
export type Rollout = Item<'listGraphJobSeedEvals'>;
