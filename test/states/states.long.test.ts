import { expect, test } from '@jest/globals';
import { databaseUrl, statesOnly, suite, temporalAddress } from '../support/environment.js';
import { runs, seedOf } from '../support/runs.js';
import { runStateSequences } from './sequences.js';

// Random command sequences on jobs, compared with the contract's table. `npm run chaos` runs many
// more. A failure prints seed, path and replayPath: STATES_ONLY='<seed> <path> <replayPath>' runs
// it alone.

const seed = seedOf('test/states', 20_261_121);
const sequences = runs(8, 60);

/** Cells of open jobs. */
const cells = ['running', 'paused'].flatMap((status) =>
  ['pause', 'resume', 'cancel', 'stop'].map((verb) => `${status} ${verb}`),
);

test(`${sequences} sequences of commands match the table (seed ${seed})`, async () => {
  const [onlySeed, path, replayPath] = statesOnly;
  const report = await runStateSequences({
    seed: Number(onlySeed ?? seed),
    sequences,
    servers: { databaseUrl: databaseUrl(), temporalAddress: temporalAddress() },
    ...(path ? { only: { path, ...(replayPath ? { replayPath } : {}) } } : {}),
  });
  expect(report.sequences).toBe(path ? 1 : sequences);
  // A few sequences do not cover every cell.
  if (!path && suite === 'all') expect(cells.filter((cell) => !report.cells.has(cell))).toEqual([]);
}, 600_000);
