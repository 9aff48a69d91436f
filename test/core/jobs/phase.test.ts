import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { phaseOfSearch } from '../../../src/core/jobs/phase.js';
import type { SearchPhase } from '../../../src/core/search/protocol.js';

const baseline: SearchPhase = { name: 'baseline', rollouts: 150, answered: 0, rewardSum: 0 };

test('counts the outcomes since the last step, and their mean where they are of one prompt', () => {
  expect(phaseOfSearch(baseline, { rollouts: 97, rewardSum: 9.7 })).toEqual({
    name: 'baseline',
    done: 97,
    total: 150,
    meanReward: 9.7 / 97,
  });
  expect(phaseOfSearch({ ...baseline, name: 'heldout' }, { rollouts: 97, rewardSum: 0 })).toMatchObject({
    done: 97,
    meanReward: null,
  });
  expect(phaseOfSearch(baseline, { rollouts: 0, rewardSum: 0 })).toMatchObject({ done: 0, meanReward: null });
  expect(phaseOfSearch(null, { rollouts: 3, rewardSum: 1 })).toBeNull();
  expect(phaseOfSearch(undefined, { rollouts: 0, rewardSum: 0 })).toBeNull();
});

test('goes on where repeated rollouts follow, and never beyond its end', () => {
  const count = fc.integer({ min: 0, max: 200 });
  fc.assert(
    fc.property(count, count, fc.integer({ min: 0, max: 1_000 }), (answered, outstanding, since) => {
      const phase = { ...baseline, rollouts: answered + outstanding, answered, rewardSum: answered / 2 };
      const { done, total } = phaseOfSearch(phase, { rollouts: since, rewardSum: since / 2 })!;
      expect(done).toBe(Math.min(total, answered + since));
    }),
  );
});
