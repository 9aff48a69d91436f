import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { config, drive, type World } from './driver.js';
import { runs } from '../../../support/runs.js';
import { casesOf, of, worldOf } from './cases.js';

/** Candidate 1 solves seeds 0 to 2, candidate 2 seeds 3 and 4, later candidates none. */
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

test('selection by estimate proposes from the candidate with the best mean, or its tied children', () => {
  const run = drive(config({ generations: 12, merge: false, minibatchSize: 6 }), world);
  const tied = of(run, 'candidate_proposed').flatMap(({ candidate, parents }) => {
    return candidate > 2 && parents.includes(1) ? [candidate] : [];
  });
  const parents = parentsAfterTheFirst('estimate');
  expect(parents).toContain(1);
  expect(tied).toEqual(expect.arrayContaining([...parents].filter((parent) => parent !== 1)));
});

test('selection by Pareto front proposes from each undominated candidate', () => {
  // No candidate solves seed 5; candidates 1 and 2 dominate the baseline there.
  expect(parentsAfterTheFirst('pareto')).toEqual(new Set([1, 2]));
});

test('a generation proposes from the candidate of its minibatch', () => {
  let explored = 0;
  const any = casesOf(true).map((given) => ({
    ...given,
    config: { ...given.config, parentSelection: 'pareto' as const },
  }));
  fc.assert(
    fc.property(any, (given) => {
      const run = drive(given.config, worldOf(given));
      const firstProposals = new Map<number, number>();
      for (const { parent, generation, kind } of run.proposals)
        if (kind !== 'merge' && !firstProposals.has(generation)) firstProposals.set(generation, parent);
      for (const { stage, generation, candidate, seed } of run.requests) {
        const parent = firstProposals.get(generation);
        // Noise probes repeat the baseline in the first generation.
        if (stage !== 'minibatch' || generation === 1 || parent === undefined) continue;
        explored += 1;
        expect({ seed, candidate }).toEqual({ seed, candidate: parent });
      }
    }),
    { numRuns: runs(200, 1_000) },
  );
  expect(explored).toBeGreaterThan(0);
});
