/** Error rates and power of the whole search on seeded binary traffic. */
import { expect, test } from '@jest/globals';
import { config } from '../gepa/driver.js';
import { of } from '../gepa/cases.js';
import { serve, traffic } from './traffic.js';

const task = (rngSeed: number) =>
  config({ populationSize: 2, generations: 3, evaluationSeeds: Array.from({ length: 40 }, (_, at) => at), rngSeed });

test('accepts at most 5 % of children equal to the baseline, and rejects few as worse', () => {
  let children = 0;
  let accepted = 0;
  let worse = 0;
  for (let seed = 0; seed < 150; seed++) {
    // All candidates are equal, and traffic drifts.
    const run = serve(
      task(seed),
      traffic(seed, ({ ordinal }) => 0.5 + 0.3 * Math.sin(ordinal / 150)),
    );
    children += of(run, 'candidate_proposed').length;
    accepted += of(run, 'candidate_accepted').length;
    worse += of(run, 'candidate_rejected').filter(({ reason }) => reason === 'worse').length;
  }
  expect(children).toBeGreaterThan(800);
  expect(accepted / children).toBeLessThanOrEqual(0.05);
  expect(worse / children).toBeLessThanOrEqual(0.2);
});

test('periodic traffic favours no candidate', () => {
  let children = 0;
  let accepted = 0;
  for (let seed = 0; seed < 150; seed++) {
    // Every third call is easy: a control at a fixed position would receive all or none of them.
    const run = serve(
      task(seed),
      traffic(seed, ({ ordinal }) => (ordinal % 3 === 0 ? 1 : 0.1)),
    );
    children += of(run, 'candidate_proposed').length;
    accepted += of(run, 'candidate_accepted').length;
  }
  expect(accepted / children).toBeLessThanOrEqual(0.05);
});

test('nearly always finds a much better child', () => {
  let found = 0;
  for (let seed = 0; seed < 60; seed++) {
    // The first child of each generation raises the chance from 0.3 to 0.85, the second does not.
    const run = serve(
      task(seed),
      traffic(seed, ({ candidate }) => (candidate % 2 === 1 ? 0.85 : 0.3)),
    );
    if (run.state.incumbent!.candidate % 2 === 1) found += 1;
  }
  expect(found).toBeGreaterThanOrEqual(57);
});
