import { expect, test } from '@jest/globals';
import { gepa } from '../../../src/core/gepa/step.js';
import { config, drive, scoring } from './driver.js';

test('the state of the largest session stays below 300 kB at every step, ties and long numbers included', () => {
  const evaluationSeeds = Array.from({ length: 1000 }, (_, seed) => 100_000 + seed);
  let largest = 0;
  const run = drive(
    config({ populationSize: 10, generations: 49, trainSeeds: evaluationSeeds, evaluationSeeds }),
    // Every child is accepted; half of all candidates tie for the best on each seed, with rewards of 16 digits.
    scoring(({ candidate, seed, stage }) => {
      if (stage === 'gate') return 0.9876543210123456;
      if (stage === 'minibatch') return 0.1234567890123456;
      return (seed * 7919 + candidate * 104_729) % 13 < 6 ? 0.8765432101234567 : 0.1234567890123456;
    }),
    (state) => {
      largest = Math.max(largest, JSON.stringify(state).length);
      return state;
    },
  );
  expect(gepa.view(run.state).candidates.filter(({ status }) => status === 'evaluated')).toHaveLength(491);
  expect(run.state.front.holders).toHaveLength(491);
  expect(largest).toBeLessThan(300_000);
});
