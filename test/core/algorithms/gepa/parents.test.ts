import { expect, test } from '@jest/globals';
import { config, drive, type World } from './driver.js';
import { of } from './cases.js';

/** Candidate 1 solves seeds 0 to 2, candidate 2 seeds 3 and 4; all later ones solve none. */
const solved: Record<number, number[]> = { 1: [0, 1, 2], 2: [3, 4] };
const world: World = {
  rollout: ({ candidate, seed }) => (solved[candidate]?.includes(seed) ? 1 : 0),
  propose: ({ ordinals }) => ({ outcome: 'proposed', shown: [...ordinals], removed: [] }),
};

function parentsAfterTheFirst(parentSelection: 'estimate' | 'pareto'): Set<number> {
  const run = drive(config({ generations: 12, merge: false, parentSelection, minibatchSize: 6 }), world);
  expect(of(run, 'candidate_accepted').map(({ candidate }) => candidate)).toEqual([1, 2]);
  const proposals = of(run, 'candidate_proposed').filter(({ generation }) => generation > 1);
  expect(proposals.length).toBeGreaterThan(10);
  return new Set(proposals.flatMap(({ parents }) => parents));
}

test('by estimate, every later proposal starts from the candidate with the best mean', () => {
  expect(parentsAfterTheFirst('estimate')).toEqual(new Set([1]));
});

test('by Pareto front, proposals start from each candidate that is the best on a train seed', () => {
  // Seed 5 is unsolved by all, so the baseline is on the front as well.
  expect(parentsAfterTheFirst('pareto')).toEqual(new Set([0, 1, 2]));
});
