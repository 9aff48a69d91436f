import { describe, expect, test } from '@jest/globals';
import { algorithmOf, searchFromRequest } from '../../../src/core/algorithms/index.js';
import { policyOptimizationSchema } from '../../../src/kinds/session/contract/create.js';
import { range } from '../../support/range.js';
import { drive, proposed, scoring } from './gepa/driver.js';

function settings(mipro: object = {}, more: object = {}) {
  const request = policyOptimizationSchema.parse({
    algorithm: 'mipro',
    container_url: 'http://localhost',
    policy: { provider: 'openai', model: 'm', temperature: 0 },
    mipro: { num_candidates: 4, train_seeds: range(0, 20), evaluation: { seeds: range(20, 10) }, ...mipro },
    ...more,
  });
  return searchFromRequest(request);
}

const run = (search: ReturnType<typeof settings>, world = scoring(({ candidate }) => candidate / 100)) =>
  drive(search, world);

describe('the composition `mipro`', () => {
  test('tests num_trials candidates at most, and without a budget as many as MIPROv2', () => {
    expect(run(settings({ num_trials: 7 })).state.nextCandidate).toBe(8);
    // 2 * (text and turns) * log2(4), and 1.5 * 4.
    expect(settings()).toMatchObject({ trials: 8, populationSize: 4, generations: 8 });
    expect(settings({}, { budget: { max_rollouts: 200 } })).toMatchObject({ trials: null, generations: 200 });
    const wide = settings({ num_candidates: 50 }, { budget: { max_rollouts: 400 } });
    expect(
      run(
        wide,
        scoring(() => 0),
      ).end,
    ).toMatchObject({ stoppedBy: 'max_rollouts' });
  });

  test('describes the task once, and gives every question a tip', () => {
    const described: number[][] = [];
    const { proposals, requests } = run(settings({ num_trials: 12 }), {
      ...scoring(() => 0),
      findDemos: ({ ordinals, describe: shown }) => {
        described.push(shown);
        const usable = { component: null, bootstrapped: ordinals, labeled: [], sameAnswer: [], room: 0 };
        return { components: ['system'], slots: [usable] };
      },
      propose: proposed,
    });
    expect(described.map((shown) => shown.length)).toEqual(described.map((_, index) => (index === 0 ? 10 : 0)));
    // Evaluation seeds choose the winner.
    for (const ordinal of described[0]!) expect(requests[ordinal]!.seed).toBeLessThan(20);
    const questions = proposals.filter(({ kind, approach }) => kind === 'rewrite' && approach !== 'compress');
    expect(new Set(questions.map(({ guide }) => guide!.tip)).size).toBeGreaterThan(3);
    for (const { components } of questions) expect(components).toMatchObject({ selection: 'round_robin' });
  });

  test('names the fields of the request in its problems', () => {
    const { configProblems } = algorithmOf({ algorithm: 'mipro' });
    expect(configProblems(settings({ num_candidates: 1 }, { budget: { max_rollouts: 1 } }))).toMatchObject([
      { field: 'maxRollouts' },
    ]);
  });

  test('shows no turns where none are allowed', () => {
    const { proposals, end } = run(settings({ max_bootstrapped_demos: 0, max_labeled_demos: 0, num_trials: 5 }));
    expect(proposals.filter(({ compose }) => compose)).toEqual([]);
    expect(end).toEqual({ kind: 'done', stoppedBy: 'generations' });
  });
});
