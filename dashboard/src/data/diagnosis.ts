/** What happened in a run, as its results or the job itself have it. */
import type { Answer } from '../../../src/client/index.js';

type Results = Answer<'getSessionResults'>;
export type Diagnosis = NonNullable<Results['diagnosis']>;
export type ProposalCounts = Results['proposals'];
