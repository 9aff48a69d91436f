import type { Answer, Item } from '../../../../../src/client/index.js';

export type { Candidate } from '../../search/types.js';
export type { Session } from '../types.js';
export type Pareto = Answer<'getSessionPareto'>;
export type SensorFrame = Item<'listSessionSensorFrames'>;
export type Lever = Answer<'listSessionLevers'>['data'][number];
export type LeverVersion = Item<'listSessionLeverVersions'>;
export type LeverText = Answer<'getSessionLeverVersion'>;
