import { expect, test } from '@jest/globals';
import { runStateSequences } from './sequences.js';

// Random sequences of all that can be done to a job, against the table of the contract. `npm run chaos` runs many more.
// A failure prints seed, path and replayPath: STATES_ONLY='<seed> <path> <replayPath>' runs that one alone.

const seed = 20_261_121;

/** Of the jobs that are open; test/core/jobs/status.test.ts has all. */
const cells = ['running', 'paused'].flatMap((status) =>
  ['pause', 'resume', 'cancel', 'stop'].map((verb) => `${status} ${verb}`),
);

test(`30 sequences of commands do what the table says (seed ${seed})`, async () => {
  const [onlySeed, path, replayPath] = process.env['STATES_ONLY']?.split(' ') ?? [];
  const report = await runStateSequences({
    seed: Number(onlySeed ?? seed),
    sequences: 30,
    servers: { databaseUrl: process.env['TEST_DATABASE_URL']!, temporalAddress: process.env['TEST_TEMPORAL_ADDRESS']! },
    ...(path ? { only: { path, ...(replayPath ? { replayPath } : {}) } } : {}),
  });
  expect(report.sequences).toBe(path ? 1 : 30);
  if (!path) expect(cells.filter((cell) => !report.cells.has(cell))).toEqual([]);
}, 600_000);
