import { expect, test } from '@jest/globals';
import { databaseUrl, statesOnly, suite, temporalAddress } from '../support/environment.js';
import { runs, seedOf } from '../support/runs.js';
import { runStateSequences } from './sequences.js';

// Random sequences of all that can be done to a job, against the table of the contract. `npm run
// chaos` runs many more. A failure prints seed, path and replayPath: STATES_ONLY='<seed> <path>
// <replayPath>' runs that one alone.

const seed = seedOf('test/states', 20_261_121);
const sequences = runs(8, 60);

/** Of the jobs that are open; test/core/jobs/status.test.ts has all. */
const cells = ['running', 'paused'].flatMap((status) =>
  ['pause', 'resume', 'cancel', 'stop'].map((verb) => `${status} ${verb}`),
);

test(`${sequences} sequences of commands do what the table says (seed ${seed})`, async () => {
  const [onlySeed, path, replayPath] = statesOnly;
  const report = await runStateSequences({
    seed: Number(onlySeed ?? seed),
    sequences,
    servers: { databaseUrl: databaseUrl(), temporalAddress: temporalAddress() },
    ...(path ? { only: { path, ...(replayPath ? { replayPath } : {}) } } : {}),
  });
  expect(report.sequences).toBe(path ? 1 : sequences);
  // Few sequences do not meet every cell.
  if (!path && suite === 'all') expect(cells.filter((cell) => !report.cells.has(cell))).toEqual([]);
}, 600_000);
