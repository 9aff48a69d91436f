import { describe, expect, test } from '@jest/globals';
import { gepaLimits } from '../../../../src/core/algorithms/gepa/config.js';
import { createUnpaired } from '../../../../src/core/algorithms/gepa-live/state.js';
import { unpaired } from '../../../../src/core/algorithms/gepa-live.js';
import { studentT95 } from '../../../../src/core/math/statistics.js';
import type { RolloutRequest } from '../../../../src/core/search/protocol.js';
import { of } from '../gepa/cases.js';
import { config, scoring, type World } from '../gepa/driver.js';
import { serve, traffic } from './traffic.js';

const seeds = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);
/** Evaluations of 20 and a test of at most 30 pairs, in rounds of 4. */
const small = (overrides: Parameters<typeof config>[0] = {}) =>
  config({ populationSize: 1, evaluationSeeds: seeds(20), ...overrides });

/** A fixed reward by candidate. */
const always = (rewardOf: (candidate: number) => number): World => scoring(({ candidate }) => rewardOf(candidate));
const stagesOf = (requests: readonly RolloutRequest[], stage: RolloutRequest['stage']) =>
  requests.filter((request) => request.stage === stage);

describe('the test of a child', () => {
  test('accepts and evaluates a much better child, which becomes the best', () => {
    const run = serve(
      small({ generations: 1 }),
      always((candidate) => (candidate === 0 ? 0 : 0.8)),
    );
    const gate = stagesOf(run.requests, 'gate');
    // Two rounds of 4 pairs, each 0.8 better in units of 1 / 0.3.
    const pairs = gate.length / 2;
    expect(pairs % 4).toBe(0);
    expect(pairs).toBeLessThan(30);
    const interval = { low: expect.any(Number), high: expect.any(Number) };
    expect(run.decisions).toEqual([
      { type: 'candidate_evaluated', candidate: 0, generation: 0, reward: 0, interval, seedsEvaluated: 20 },
      { type: 'generation_complete', generation: 0, bestReward: 0, bestCandidate: 0 },
      { type: 'candidate_proposed', candidate: 1, parents: [0], generation: 1 },
      {
        type: 'candidate_accepted',
        candidate: 1,
        generation: 1,
        parentSum: 0,
        childSum: expect.closeTo(0.8 * pairs, 9),
        tested: pairs,
        estimate: expect.closeTo(0.8, 9),
      },
      { type: 'candidate_evaluated', candidate: 1, generation: 1, reward: 0.8, interval, seedsEvaluated: 20 },
      { type: 'generation_complete', generation: 1, bestReward: 0.8, bestCandidate: 1 },
    ]);
    expect(stagesOf(run.requests, 'evaluation').map(({ candidate }) => candidate)).toEqual(seeds(20).map(() => 1));
    expect(unpaired.view(run.state)).toMatchObject({ bestCandidate: 1, bestReward: 0.8, noise: null });
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'generations' });
  });

  test('rejects a much worse child before the horizon, with the sums of the compared rollouts', () => {
    const run = serve(
      small({ generations: 1 }),
      always((candidate) => (candidate === 0 ? 0.8 : 0)),
    );
    const [rejected] = of(run, 'candidate_rejected');
    const pairs = stagesOf(run.requests, 'gate').length / 2;
    expect(pairs).toBeLessThan(30);
    expect(rejected).toMatchObject({ candidate: 1, reason: 'worse', childSum: 0 });
    expect(rejected!.parentSum).toBeCloseTo(0.8 * pairs, 9);
  });

  test('rejects an equal child at the horizon as not better', () => {
    const run = serve(
      small({ generations: 1 }),
      always(() => 0.5),
    );
    expect(of(run, 'candidate_rejected')).toMatchObject([{ reason: 'not_better' }]);
    expect(stagesOf(run.requests, 'gate')).toHaveLength(60);
    const long = serve(
      small({ generations: 1, evaluationSeeds: seeds(50) }),
      always(() => 0.5),
    );
    expect(stagesOf(long.requests, 'gate')).toHaveLength(100);
  });

  test('children share one control, in rounds of random order', () => {
    const run = serve(
      small({ populationSize: 3, generations: 1 }),
      always(() => 0.5),
    );
    const gate = stagesOf(run.requests, 'gate');
    expect(gate).toHaveLength(4 * 30);
    const rounds = seeds(30).map((round) => gate.slice(4 * round, 4 * round + 4).map(({ candidate }) => candidate));
    for (const round of rounds) expect([...round].sort()).toEqual([0, 1, 2, 3]);
    expect(new Set(rounds.map((round) => round.indexOf(0))).size).toBe(4);
  });

  test('ends the test at an acceptance, and accepts the greatest gain', () => {
    const run = serve(
      small({ populationSize: 3, generations: 1 }),
      always((candidate) => [0, 0.8, 0.9, 0.1][candidate]!),
    );
    const verdicts = run.decisions.filter(({ type }) => /accepted|rejected/.test(type));
    expect(verdicts).toMatchObject([
      { type: 'candidate_rejected', candidate: 1, reason: 'overtaken' },
      { type: 'candidate_accepted', candidate: 2 },
      { type: 'candidate_rejected', candidate: 3, reason: 'overtaken' },
    ]);
    expect(run.state.incumbent!.candidate).toBe(2);
  });

  test('starts the next generation from the accepted child and its failures', () => {
    const run = serve(
      small({ generations: 2 }),
      scoring(({ candidate, ordinal }) => (candidate === 0 ? 0 : ordinal % 2)),
    );
    const [accepted] = of(run, 'candidate_accepted');
    const [, second] = run.proposals;
    expect(second).toMatchObject({ parent: accepted!.candidate, generation: 2 });
    const own = run.requests.filter(
      ({ candidate, stage, generation }) => candidate === 1 && stage === 'gate' && generation === 1,
    );
    expect(second!.ordinals).toContain(own.filter(({ ordinal }) => ordinal % 2 === 0).at(-1)!.ordinal);
  });
});

describe('failures for reflection', () => {
  test('offers unshown failures first, the latest first', () => {
    const run = serve(
      small({ generations: 2, minibatchSize: 2 }),
      always(() => 0),
    );
    const [first, second] = run.proposals;
    expect(first!.ordinals).toEqual([19, 18, 17, 16, 15, 14, 13, 12]);
    expect(first!.pick).toEqual({ size: 2, index: 0, of: 1 });
    expect(second!.ordinals[0]).toBeGreaterThan(20);
    const many = serve(
      small({ generations: 1, populationSize: 30, minibatchSize: 1 }),
      always(() => 0),
    );
    expect(many.proposals[0]!.ordinals).toHaveLength(20);
    expect(many.proposals).toHaveLength(20);
  });

  test('runs the incumbent if failures are few: half an evaluation at a time, one at most', () => {
    const rare = serve(
      small({ generations: 1 }),
      scoring(({ ordinal }) => (ordinal === 35 ? 0 : 1)),
    );
    expect(stagesOf(rare.requests, 'minibatch').map(({ candidate }) => candidate)).toEqual(seeds(20).map(() => 0));
    expect(rare.turns.filter(({ before }) => before.phase.name === 'minibatch')).toHaveLength(2);
    expect(rare.proposals.map(({ ordinals }) => ordinals)).toEqual([[35]]);
    const soon = serve(
      small({ generations: 1 }),
      scoring(({ ordinal }) => (ordinal >= 25 && ordinal < 28 ? 0 : 1)),
    );
    expect(stagesOf(soon.requests, 'minibatch')).toHaveLength(10);
    const enough = serve(
      small({ generations: 1 }),
      always(() => 0),
    );
    expect(stagesOf(enough.requests, 'minibatch')).toEqual([]);
  });

  test('ends as solved without failures', () => {
    const run = serve(
      small({}),
      always(() => 1),
    );
    expect(run.end).toEqual({ kind: 'done', stoppedBy: 'solved' });
    expect(run.requests).toHaveLength(40);
    expect(of(run, 'generation_complete').map(({ generation }) => generation)).toEqual([0, 1]);
  });
});

describe('the end of the search', () => {
  test('comes by patience, target reward, budget and maximum of candidates', () => {
    const still = always(() => 0.5);
    expect(serve(small({ generations: 9, patience: 2 }), still).state).toMatchObject({
      generation: 2,
      phase: { name: 'done', stoppedBy: 'patience' },
    });
    const better = always((candidate) => Math.min(1, candidate * 0.4));
    expect(serve(small({ generations: 9, targetReward: 0.8 }), better).state).toMatchObject({
      generation: 2,
      phase: { name: 'done', stoppedBy: 'target_reward' },
    });
    const spent = serve(small({ generations: 9, maxRollouts: 115 }), still);
    expect(spent.end).toEqual({ kind: 'done', stoppedBy: 'max_rollouts' });
    // 20 for the baseline, 60 for a test; 20 stay reserved; a round of 8 fits into the last 15.
    expect(spent.requests).toHaveLength(20 + 60 + 8);
    expect(of(spent, 'candidate_rejected').map(({ reason }) => reason)).toEqual(['not_better', 'budget']);
    const many = serve(
      small({ populationSize: 499, generations: 1, minibatchSize: 1, evaluationSeeds: seeds(600) }),
      still,
    );
    expect(many.state.nextCandidate).toBeLessThanOrEqual(gepaLimits.candidates);
  });

  test('keeps the most promising children if the budget does not cover all', () => {
    const run = serve(
      small({ populationSize: 3, generations: 1, maxRollouts: 20 + 32 + 20 }),
      always((candidate) => [0.5, 0.4, 0.6, 0.5][candidate]!),
    );
    // A round of all children costs 16; the rest covers two rounds of one child.
    const rejected = of(run, 'candidate_rejected');
    expect(rejected.map(({ candidate }) => candidate)).toEqual(
      run.state.candidates.slice(1).map((summary) => summary.candidate),
    );
    expect(rejected.every(({ reason }) => reason === 'budget')).toBe(true);
    const last = stagesOf(run.requests, 'gate').at(-1)!;
    expect(stagesOf(run.requests, 'gate').length).toBeLessThanOrEqual(32);
    expect(last.ordinal).toBe(run.requests.length - 1);
  });

  test('compares baseline and winner on fresh calls by an interval for independent samples', () => {
    const run = serve(
      small({ generations: 1, heldoutSeeds: seeds(4, 100) }),
      scoring(({ candidate, stage, seed }) => {
        if (stage !== 'heldout') return candidate;
        return candidate === 0 ? (seed < 4 ? 0 : 0.2) : seed < 4 ? 0.5 : 0.7;
      }),
    );
    const held = stagesOf(run.requests, 'heldout');
    expect(held).toHaveLength(8);
    const { verdict } = unpaired.view(run.state);
    // Two of each value per side: variances 0.04 / 3, standard error sqrt(2 * 0.04 / 12), 6 degrees
    // of freedom.
    expect(verdict).toMatchObject({ verdict: 'better', basis: 'heldout', seeds: 4 });
    expect(verdict!.difference).toBeCloseTo(0.5, 9);
    expect(verdict!.low).toBeCloseTo(0.5 - studentT95(6) * Math.sqrt(0.08 / 12), 6);
  });

  test('compares evaluations without held-out calls; a winning baseline is not better than itself', () => {
    const won = serve(
      small({ generations: 1 }),
      always((candidate) => candidate / 2),
    );
    expect(unpaired.view(won.state).verdict).toMatchObject({ verdict: 'better', basis: 'evaluation', seeds: 20 });
    const still = serve(
      small({ generations: 1, heldoutSeeds: seeds(4, 100) }),
      traffic(5, () => 0.5),
    );
    expect(unpaired.view(still.state).verdict).toMatchObject({
      verdict: 'inconclusive',
      difference: 0,
      low: 0,
      high: 0,
    });
    expect(stagesOf(still.requests, 'heldout')).toEqual([]);
  });

  test('keeps the better candidate and the history if traffic becomes harder', () => {
    const run = serve(
      small({ generations: 1 }),
      scoring(({ candidate, ordinal }) => (candidate === 0 ? 0.6 : 0.9) - (ordinal >= 20 ? 0.5 : 0)),
    );
    expect(unpaired.view(run.state)).toMatchObject({ bestCandidate: 1, bestReward: 0.6 });
    expect(run.state.candidates[1]!.reward).toBeCloseTo(0.4, 9);
    expect(run.state.history).toEqual([0.6, 0.6]);
  });
});

describe('the view', () => {
  test("estimates the incumbent's reward by its evaluation, with an interval", () => {
    const run = serve(
      small({ generations: 1 }),
      scoring(({ ordinal }) => ordinal % 2),
    );
    const { estimate } = unpaired.view(run.turns[0]!.after);
    // Ten right of 20, by Clopper and Pearson.
    const ends = { low: expect.closeTo(0.272, 3), high: expect.closeTo(0.728, 3) };
    expect(estimate).toEqual({ candidate: 0, reward: 0.5, ...ends });
    expect(unpaired.view(run.turns[0]!.before).estimate).toBeNull();
    const single = serve(
      small({ generations: 1, evaluationSeeds: [0] }),
      always(() => 0),
    );
    expect(unpaired.view(single.state).estimate).toMatchObject({ low: 0, high: expect.closeTo(0.975, 9) });
  });
});

test('rejects an invalid config', () => {
  expect(() => createUnpaired(small({ generations: 0 }))).toThrow(RangeError);
});
