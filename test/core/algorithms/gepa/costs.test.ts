import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addCosts, isCheaper } from '../../../../src/core/search/costs.js';
import { exceeds } from '../../../../src/core/math/rewards.js';
import { casesOf, of, worldOf } from './cases.js';
import { config, drive, proposed, type World } from './driver.js';
import { pureRuns } from '../../../support/runs.js';

describe('a search with costs', () => {
  test('behaves as without costs if all candidates cost the same', () => {
    fc.assert(
      fc.property(casesOf(false), (given) => {
        const { costs: _, ...state } = drive(given.config, { ...worldOf(given), cost: () => 7 }).state;
        expect(state).toEqual(drive(given.config, worldOf(given)).state);
      }),
      { numRuns: pureRuns(50) },
    );
  });

  test('never prefers a clearly dearer candidate of equal reward, and history never falls', () => {
    let cheaper = 0;
    fc.assert(
      fc.property(casesOf(true), fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 5 }), (given, costs) => {
        const world: World = { ...worldOf(given), cost: ({ candidate }) => costs[candidate % costs.length]! };
        const run = drive(given.config, world);
        const { best, history } = run.state;
        for (const { candidate, reward } of run.state.candidates) {
          if (reward === null || exceeds(best!.reward, reward)) continue;
          expect(isCheaper(run.state.costs, candidate, best!.candidate)).toBe(false);
        }
        // The mean of a cheaper successor may differ by rounding.
        for (const [at, mean] of history.slice(1).entries()) expect(mean).toBeGreaterThan(history[at]! - 1e-9);
        for (const accepted of of(run, 'candidate_accepted')) {
          if (accepted.reason !== 'cheaper') continue;
          cheaper += 1;
          expect(accepted.childSum).toBeGreaterThan(accepted.parentSum - 1e-6);
          const { parents } = run.state.candidates.find(({ candidate }) => candidate === accepted.candidate)!;
          const [own, parent] = [accepted.candidate, parents[0]!].map((candidate) => costs[candidate % costs.length]!);
          expect(own).toBeLessThan(parent!);
        }
      }),
      // Few runs accept a cheaper candidate.
      { numRuns: pureRuns(800) },
    );
    expect(cheaper).toBeGreaterThan(0);
  });

  test.each([
    ['is the next parent if it costs the same', 1, [0, 1]],
    ['is no parent if it costs more', 2, [0, 0]],
  ])('a child that neither gains nor loses %s', (_, cost, parents) => {
    const world: World = { rollout: () => 0, cost: ({ candidate }) => (candidate === 0 ? 1 : cost), propose: proposed };
    const run = drive(config({ populationSize: 1, generations: 2, maxRollouts: 60 }), world);
    expect(run.proposals.map(({ parent }) => parent)).toEqual(parents);
  });

  test('the winner is the cheapest of equally good candidates', () => {
    // Every text solves all seeds but 0; a child costs half as much as its parent.
    const world: World = {
      rollout: ({ seed }) => (seed === 0 ? 0 : 1),
      cost: ({ candidate }) => 64 / 2 ** candidate,
      propose: proposed,
    };
    const run = drive(config({ populationSize: 1, generations: 2, maxRollouts: 60 }), world);
    expect(of(run, 'candidate_accepted')).toEqual([
      expect.objectContaining({ candidate: 1, reason: 'cheaper' }),
      expect.objectContaining({ candidate: 2, reason: 'cheaper' }),
    ]);
    expect(run.state.best).toMatchObject({ candidate: 2 });
  });
});

test('compares mean costs of different numbers of rollouts', () => {
  const costs = addCosts(addCosts({}, [{ candidate: 0, cost: 10 }]), [
    ...[10, 10].map((cost) => ({ candidate: 0, cost })),
    { candidate: 1, cost: 8 },
  ]);
  expect(costs).toEqual({ 0: [30, 3], 1: [8, 1] });
  expect([isCheaper(costs, 1, 0), isCheaper(costs, 0, 1), isCheaper(costs, 1, 2)]).toEqual([true, false, false]);
});
