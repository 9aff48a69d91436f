/**
 * Worlds whose scores are formulas, so that what GEPA must find can be proved:
 *  - rules: a seed is solved by whoever knows its rule, and a proposal learns one rule that a shown failure lacked. With
 *    the whole train set as minibatch every generation adds one rule, so the best after generation g knows exactly g;
 *  - specialists: every text is good on one half of the seeds only. Greedy descent from the best mean would keep one
 *    half for ever; the front keeps both, and both become parents;
 *  - over-fitting: children gain on train seeds and lose on evaluation seeds. The baseline must stay the best;
 *  - perfect: where nothing can be better, no proposal is paid for.
 */
import { describe, expect, test } from '@jest/globals';
import { gepa } from '../../../../src/core/gepa/lockstep/step.js';
import type { RolloutRequest } from '../../../../src/core/work.js';
import { config, drive, scoring, type World } from './driver.js';

const rules = 6;

/** Knows what each candidate knows; proposals learn from the failures they are shown, by ordinal. */
function rulesWorld(): World & { known: Map<number, Set<number>> } {
  const known = new Map([[0, new Set<number>()]]);
  const asked: RolloutRequest[] = [];
  const solves = (candidate: number, seed: number) => known.get(candidate)!.has(seed % rules);
  return {
    known,
    rollout(request) {
      asked[request.ordinal] = request;
      return solves(request.candidate, request.seed) ? 1 : 0;
    },
    propose({ candidate, parent, ordinals }) {
      const failed = ordinals.map((ordinal) => asked[ordinal]!).find(({ seed }) => !solves(parent, seed));
      if (failed === undefined) throw new Error('a proposal was asked for without a failure to learn from');
      known.set(candidate, new Set([...known.get(parent)!, failed.seed % rules]));
      return { outcome: 'proposed' };
    },
  };
}

describe('rules', () => {
  const all = Array.from({ length: rules }, (_, seed) => seed);
  const unseen = all.map((seed) => seed + 10 * rules);

  test.each([0, 1, 7, -3])('rng seed %d: each generation adds one rule, until all are known', (rngSeed) => {
    const world = rulesWorld();
    const run = drive(
      config({
        populationSize: 1,
        generations: rules + 2,
        minibatchSize: 99,
        trainSeeds: all,
        evaluationSeeds: unseen,
        rngSeed,
      }),
      world,
    );
    const view = gepa.view(run.state);
    const expected = Array.from({ length: rules + 3 }, (_, generation) => Math.min(generation, rules) / rules);
    expect(view.history.map(({ bestReward }) => bestReward)).toEqual(expected);
    expect(view).toMatchObject({ bestReward: 1, bestCandidate: rules });
    expect([...world.known.get(rules)!].sort()).toEqual(all);
    // The two generations after perfection pay for the parent's minibatch only.
    expect(run.requests.length).toBe(rules + rules * (rules + rules + rules) + 2 * rules);
  });

  test('is found as well with small minibatches and several proposals at once', () => {
    for (let rngSeed = 0; rngSeed < 20; rngSeed++) {
      const run = drive(
        config({ populationSize: 3, generations: 30, trainSeeds: all, evaluationSeeds: unseen, rngSeed }),
        rulesWorld(),
      );
      expect(gepa.view(run.state).bestReward).toBe(1);
    }
  });

  test('in 400 rollouts a budget ends it with the best so far', () => {
    const run = drive(
      config({ populationSize: 2, generations: 100, trainSeeds: all, evaluationSeeds: unseen, maxRollouts: 400 }),
      rulesWorld(),
    );
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'max_rollouts' });
    expect(run.requests.length).toBeLessThanOrEqual(400);
    expect(gepa.view(run.state).bestReward).toBe(1);
  });
});

test('specialists: both halves of the front become parents', () => {
  // Candidate 0 solves even seeds half way; child 1 is good on even seeds, child 2 on odd ones, later ones on none.
  const run = drive(
    config({ populationSize: 2, generations: 12, minibatchSize: 6 }),
    scoring(({ candidate, seed, stage }) => {
      if (stage === 'gate') return candidate <= 2 ? 1 : 0;
      if (candidate === 0) return 0.1;
      if (candidate === 1) return seed % 2 === 0 ? 0.9 : 0;
      return candidate === 2 && seed % 2 === 1 ? 0.6 : 0;
    }),
  );
  const later = run.proposals.filter(({ generation }) => generation > 1).map(({ parent }) => parent);
  expect(new Set(later)).toEqual(new Set([1, 2]));
  expect(gepa.view(run.state).bestCandidate).toBe(1);
});

test('over-fitting: what gains on train seeds and loses on evaluation seeds never becomes the best', () => {
  const run = drive(
    config({ generations: 5, trainSeeds: [0, 1, 2], evaluationSeeds: [10, 11] }),
    scoring(({ candidate, seed }) => (seed >= 10 ? 0.5 - candidate / 100 : candidate / 100)),
  );
  expect(gepa.view(run.state)).toMatchObject({ bestCandidate: 0, bestReward: 0.5 });
  expect(gepa.view(run.state).candidates.filter(({ status }) => status === 'evaluated').length).toBeGreaterThan(1);
});

test('ties for the best go to the earlier candidate', () => {
  const run = drive(
    config({ generations: 4 }),
    scoring(({ candidate, stage }) => (stage === 'gate' ? 1 : candidate === 0 ? 0.2 : 0.4)),
  );
  expect(gepa.view(run.state)).toMatchObject({ bestCandidate: 1, bestReward: 0.4 });
});

test('perfect: a parent whose whole minibatch is perfect gives no proposal', () => {
  const run = drive(
    config({ populationSize: 2, generations: 3, perfectScore: 0.9 }),
    scoring(() => 0.95),
  );
  expect(run.proposals).toEqual([]);
  expect(run.end).toEqual({ kind: 'done', stoppedBy: 'generations' });
  expect(gepa.view(run.state)).toMatchObject({ bestCandidate: 0, generation: 3 });
});
