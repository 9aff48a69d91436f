import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { drawOtherLine } from '../../../../src/core/algorithms/gepa/stall.js';
import { groupBy } from '../../../../src/util/group.js';
import { createGepa } from '../../../../src/core/algorithms/gepa/state.js';
import { rewardModelOf } from '../../../../src/core/search/model-cache.js';
import { range } from '../../../support/range.js';
import { config, drive, type World } from './driver.js';
import { pureRuns } from '../../../support/runs.js';
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

test('selection by estimate proposes from the best mean and its tied children; stalled, also from others', () => {
  const run = drive(config({ generations: 12, merge: false, minibatchSize: 6 }), world);
  const tied = of(run, 'candidate_proposed').flatMap(({ candidate, parents }) => {
    return candidate > 2 && parents.includes(1) ? [candidate] : [];
  });
  const parents = parentsAfterTheFirst('estimate');
  expect(parents).toContain(1);
  expect([1, 2, ...tied]).toEqual(expect.arrayContaining([...parents]));
});

test('selection by Pareto front proposes from each undominated candidate', () => {
  // No candidate solves seed 5; candidates 1 and 2 dominate the baseline there.
  expect(parentsAfterTheFirst('pareto')).toEqual(new Set([1, 2]));
});

test('a minibatch runs a candidate that its generation proposes from', () => {
  let explored = 0;
  const any = casesOf(true).map((given) => ({
    ...given,
    config: { ...given.config, parentSelection: 'pareto' as const, slots: 1 },
  }));
  fc.assert(
    fc.property(any, (given) => {
      const run = drive(given.config, worldOf(given));
      const rewrites = groupBy(
        run.proposals.filter(({ kind }) => kind !== 'merge'),
        ({ generation }) => generation,
      );
      for (const { stage, generation, candidate } of run.requests) {
        // A generation of known texts alone goes on with another parent and its minibatch.
        const parents = rewrites.get(generation)?.map(({ parent }) => parent);
        // Noise probes repeat the baseline in the first generation.
        if (stage !== 'minibatch' || generation === 1 || parents === undefined) continue;
        explored += 1;
        expect(parents).toContain(candidate);
      }
    }),
    { numRuns: pureRuns(200) },
  );
  expect(explored).toBeGreaterThan(0);
});

test('another line of a stalled search is drawn half as often as the next better one', () => {
  const solves = (count: number, first: number) =>
    Object.fromEntries([0, 1, 2, 3].map((seed) => [seed, [[first + seed, seed < count ? 1 : 0] as const]]));
  const results = { 0: solves(0, 0), 1: solves(1, 4), 2: solves(2, 8), 3: solves(3, 12) };
  const candidates = [0, 1, 2, 3].map((candidate) => {
    const parents = candidate === 0 ? [] : [candidate - 1];
    return { candidate, parents, generation: candidate, status: 'proposed', reward: null } as const;
  });
  const pooled = { ...createGepa(config({ trainSeeds: [0, 1, 2, 3] })), results, candidates, pool: [0, 1, 2, 3] };
  const model = rewardModelOf(pooled);
  const drawn = range(0, 700).map((generation) => drawOtherLine({ ...pooled, generation }, model, 3)!);
  const counts = [2, 1, 0].map((line) => drawn.filter((own) => own === line).length);
  for (const [rank, expected] of [400, 200, 100].entries()) expect(Math.abs(counts[rank]! - expected)).toBeLessThan(40);
});
