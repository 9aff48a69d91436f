/**
 * A lucky run on the train seeds ends no search: where equal rollouts differ, or may, a seed counts
 * as solved after two successes in a row. Deterministic searches pay nothing for it.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noiseProbes } from '../../../src/core/algorithms/gepa/config.js';
import { seedRng, uniformInt } from '../../../src/core/math/random.js';
import type { RolloutRequest, SearchRequest } from '../../../src/core/search/protocol.js';
import { pureRuns } from '../../support/runs.js';
import { range } from '../../support/range.js';
import { config, drive, scoring, type World } from './gepa/driver.js';

const trainSeeds = range(0, 7);
const evaluationSeeds = range(100, 6);

/** Rewards 0 and 1 that depend on the rollout alone. */
const coin = (seed: number, percent: number): World['rollout'] => {
  return ({ ordinal }) => Number(uniformInt(seedRng(seed * 100_003 + ordinal, 7), 100)[0] < percent);
};

const claims = (ends: SearchRequest[]) =>
  ends.filter((end) => end.kind === 'done' && /solved$/.test(end.stoppedBy)).length / ends.length;

describe('on coin tosses', () => {
  // Before, a quarter of the searches ended so.
  test.each([
    ['noise that probes show', {}, 0.06],
    ['noise that is suspected', { isSampled: true as const }, 0.04],
  ])('few GEPA searches end as solved: %s', (_, more, most) => {
    const ends = range(0, 120).map((rngSeed) => {
      const limits = { generations: 20, populationSize: 1, maxRollouts: 120 };
      const slots = rngSeed % 2 === 0 ? 1 : 8;
      const given = config({ ...limits, trainSeeds, evaluationSeeds, rngSeed, slots, ...more });
      return drive(given, scoring(coin(rngSeed, 50))).end;
    });
    expect(claims(ends)).toBeLessThanOrEqual(most);
  });
});

/** Rollouts of a candidate on a seed after the first one. */
function repeated(requests: readonly RolloutRequest[]): RolloutRequest[] {
  const seen = new Set<string>();
  return requests.filter(({ candidate, seed }) => {
    const key = `${candidate} ${seed}`;
    const isAgain = seen.has(key);
    seen.add(key);
    return isAgain;
  });
}

/** Candidate 0 fails on some train seeds, the others on none. */
const solvable = fc.record({
  failing: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 7 }),
  rngSeed: fc.nat(),
  slots: fc.constantFrom(1, 4),
  populationSize: fc.constantFrom(1, 2),
});
const world = (failing: readonly number[]) =>
  scoring(({ candidate, seed }) => Number(seed < 100 && (candidate > 0 || !failing.includes(seed))));
const limits = { trainSeeds, evaluationSeeds, generations: 30 };

test('a deterministic search confirms nothing: only the probes repeat a rollout', () => {
  fc.assert(
    fc.property(solvable, ({ failing, ...more }) => {
      const given = config({ ...limits, ...more });
      const run = drive(given, world(failing));
      expect(run.end).toEqual({ kind: 'done', stoppedBy: 'train_solved' });
      expect(repeated(run.requests).length).toBeLessThanOrEqual(noiseProbes(given));
    }),
    { numRuns: pureRuns(50) },
  );
});

test('a suspicion of noise costs at most as many rollouts as settle it', () => {
  fc.assert(
    fc.property(solvable, ({ failing, ...more }) => {
      const given = config({ ...limits, ...more });
      const [plain, suspected] = [given, { ...given, isSampled: true as const }].map((of) => drive(of, world(failing)));
      expect(suspected!.end).toEqual(plain!.end);
      expect(suspected!.requests.length).toBeLessThanOrEqual(plain!.requests.length + 12);
      expect(suspected!.proposals.length).toBe(plain!.proposals.length);
      expect(suspected!.state.best).toEqual(plain!.state.best);
    }),
    { numRuns: pureRuns(50) },
  );
});

test('a candidate that solves every train seed of a noisy task ends the search, with each seed run twice', () => {
  // Only the baseline is noisy.
  const toss = coin(1, 30);
  const rollout: World['rollout'] = (request) =>
    request.candidate === 0 ? toss(request) : Number(request.seed !== 100);
  const run = drive(config({ ...limits, populationSize: 1, rngSeed: 3 }), scoring(rollout));
  expect(run.end).toEqual({ kind: 'done', stoppedBy: 'train_solved' });
  const winner = run.state.best!.candidate;
  expect(winner).toBeGreaterThan(0);
  for (const seed of trainSeeds) expect(run.state.results[winner]![seed]!.length).toBeGreaterThanOrEqual(2);
});
