import fc from 'fast-check';
import { givenSeed } from '../environment.js';
import { pureRuns } from '../runs.js';

/** Properties that do not state their number of runs are pure and fast. */
fc.configureGlobal({ numRuns: pureRuns(), ...(givenSeed !== undefined && { seed: Number(givenSeed) }) });
