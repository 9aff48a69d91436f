/** The answers that the page of a session shows. */
import type { Answer, Item } from '../../../../src/client/index.js';

export type Session = Answer<'getSession'>;
export type Results = Answer<'getSessionResults'>;
export type Candidate = Item<'listSessionCandidates'>;
export type CandidateDetail = Answer<'getSessionCandidate'>;
export type Pareto = Answer<'getSessionPareto'>;
export type SensorFrame = Item<'listSessionSensorFrames'>;
export type Lever = Answer<'listSessionLevers'>['data'][number];
export type LeverVersion = Item<'listSessionLeverVersions'>;
export type LeverText = Answer<'getSessionLeverVersion'>;
