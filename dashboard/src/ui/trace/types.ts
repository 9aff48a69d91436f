import type { Answer } from '../../../../src/client/index.js';

export type Trace = Answer<'getSessionTrace'>;
export type Call = Trace['calls'][number];

/** Whether the rollout has its outcome. */
export const isFinished = ({ status }: Trace): boolean => ['succeeded', 'failed', 'cancelled'].includes(status);
