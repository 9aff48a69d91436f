/** What the pages of all jobs have in common. */
import type { Answer } from '../../../src/client/index.js';

export type Job = Answer<'getSession'> | Answer<'getGraphJob'> | Answer<'getEvaluation'>;

export const isActive = (status: Job['status']): boolean => ['pending', 'running', 'paused'].includes(status);
