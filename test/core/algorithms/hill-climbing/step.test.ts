import { expect, test } from '@jest/globals';
import { createHillClimbing } from '../../../../src/core/algorithms/hill-climbing/state.js';
import { hillClimbing } from '../../../../src/core/algorithms/hill-climbing/step.js';
import { config, driveSearch } from '../gepa/driver.js';

test('moves to the best neighbor in each generation until all seeds are solved', () => {
  const start = createHillClimbing({ ...config(), neighbors: 2, generations: 9 });
  const end = driveSearch(hillClimbing, start, {
    rollout: ({ candidate, seed }) => (seed < candidate ? 1 : 0),
    propose: ({ ordinals }) => ({ outcome: 'proposed', shown: ordinals.slice(0, 1), removed: [] }),
  });
  expect(end.end).toEqual({ kind: 'done', stoppedBy: 'solved' });
  expect(end.state.history).toEqual([0, 2 / 6, 4 / 6, 1]);
  expect(end.proposals.map(({ parent }) => parent)).toEqual([0, 0, 2, 2, 4, 4]);
  expect(end.requests).toHaveLength(7 * 6);
});
