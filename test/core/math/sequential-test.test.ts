import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextUint32, seedRng, type Rng } from '../../../src/core/math/random.js';
import { sampleOf } from '../../../src/core/math/statistics.js';
import {
  addPairs,
  errorRates,
  judgeTest,
  logEvidence,
  openTest,
  type RewardPair,
  type TestVerdict,
} from '../../../src/core/math/sequential-test.js';

/** Draws one reward. */
type Reward = (uniform: () => number) => number;

function uniforms(seed: number): () => number {
  let rng: Rng = seedRng(seed);
  return () => {
    const [value, next] = nextUint32(rng);
    rng = next;
    return (value + 0.5) / 2 ** 32;
  };
}

const yes =
  (chance: number): Reward =>
  (uniform) =>
    uniform() < chance ? 1 : 0;
const normal =
  (center: number): Reward =>
  (uniform) =>
    center + Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
const grades =
  (chance: number): Reward =>
  (uniform) =>
    (yes(chance)(uniform) + yes(chance)(uniform) + yes(chance)(uniform)) / 3;
/** No mean and no variance. */
const cauchy: Reward = (uniform) => Math.tan(Math.PI * (uniform() - 0.5));
/** A mean of 3, and an infinite variance: skewed as far as latencies or costs are. */
const pareto: Reward = (uniform) => uniform() ** (-1 / 1.5);

/** One comparison, checked after every pair as in a search; the unit is from 30 control rewards. */
function compare(child: Reward, control: Reward, horizon: number, uniform: () => number): TestVerdict {
  const before = Array.from({ length: 30 }, () => control(uniform));
  let on = openTest(Math.sqrt(sampleOf(before).variance));
  for (;;) {
    on = addPairs(on, [[child(uniform), control(uniform)]]);
    const verdict = judgeTest(on, horizon);
    if (verdict !== null) return verdict;
  }
}

/** Shares of the verdicts among `runs` comparisons. */
function simulate(child: Reward, control: Reward, horizon: number, runs = 1_000, seed = 7) {
  const uniform = uniforms(seed);
  const outcomes = Array.from({ length: runs }, () => compare(child, control, horizon, uniform));
  const share = (verdict: TestVerdict) => outcomes.filter((one) => one === verdict).length / runs;
  return { better: share('better'), worse: share('worse') };
}

/** Three standard errors of a share of 1,000 that is as large as is allowed. */
const margin = (share: number) => 3 * Math.sqrt((share * (1 - share)) / 1_000);

describe('of two that are equal', () => {
  test.each<[string, Reward]>([
    ['yes or no, half of them', yes(0.5)],
    ['yes or no, one in ten', yes(0.1)],
    ['yes or no, one in fifty', yes(0.02)],
    ['yes or no, nearly all', yes(0.95)],
    ['always the same', yes(1)],
    ['grades', grades(0.4)],
    ['normal', normal(0)],
    ['heavy tails on both sides', cauchy],
    ['a heavy tail on one side', pareto],
  ])('%s: at most 5 %% are accepted and 20 %% rejected early, looked at after every pair', (_, reward) => {
    const { better, worse } = simulate(reward, reward, 60);
    expect(better).toBeLessThanOrEqual(errorRates.accept + margin(errorRates.accept));
    expect(worse).toBeLessThanOrEqual(errorRates.reject + margin(errorRates.reject));
  });

  test('a drift of both alike changes nothing of that', () => {
    const uniform = uniforms(3);
    let asked = 0;
    const drifting: Reward = (next) => yes(0.5 + 0.4 * Math.sin(asked++ / 40))(next);
    const accepted = Array.from({ length: 1_000 }, () => compare(drifting, drifting, 60, uniform)).filter(
      (verdict) => verdict === 'better',
    );
    expect(accepted.length / 1_000).toBeLessThanOrEqual(errorRates.accept + margin(errorRates.accept));
  });
});

describe('of a child that is worse', () => {
  test.each<[string, Reward, Reward]>([
    ['yes or no', yes(0.4), yes(0.5)],
    ['yes or no, rarely', yes(0.05), yes(0.1)],
    ['grades', grades(0.3), grades(0.4)],
    ['normal', normal(-0.3), normal(0)],
    ['a heavy tail on one side', (uniform) => 0.8 * pareto(uniform), pareto],
  ])('%s: still fewer are accepted', (_, child, control) => {
    const equals = simulate(control, control, 80, 600);
    const { better, worse } = simulate(child, control, 80, 600);
    expect(better).toBeLessThanOrEqual(Math.min(equals.better, 0.005));
    expect(worse).toBeGreaterThan(equals.worse);
  });
});

describe('of a child that is better', () => {
  test.each<[string, number, Reward, Reward, number]>([
    ['by 1 standard deviation, normal', 60, normal(1), normal(0), 0.95],
    ['by 1 standard deviation, yes or no', 40, yes(0.99), yes(0.5), 0.98],
    ['by 0.7 standard deviations, yes or no', 100, yes(0.85), yes(0.5), 0.98],
    ['by 0.5 standard deviations, normal', 200, normal(0.5), normal(0), 0.95],
    ['by 0.5 standard deviations, yes or no', 200, yes(0.4), yes(0.2), 0.9],
    ['by 0.5 standard deviations, grades', 200, grades(0.64), grades(0.5), 0.95],
    ['that solves half of what was never solved', 60, yes(0.5), yes(0), 0.98],
  ])('%s: within %d pairs', (_, horizon, child, control, power) => {
    const { better, worse } = simulate(child, control, horizon, 500);
    expect(better).toBeGreaterThanOrEqual(power);
    expect(worse).toBeLessThan(0.01);
  });
});

/** e by definition: exp(l S - l^2 V / 2), weighted by a half-normal of scale 1 over l. */
function evidenceByIntegral(sum: number, squares: number): number {
  const steps = 20_000;
  const width = 12 / steps;
  let total = 0;
  for (let step = 0; step < steps; step++) {
    const l = (step + 0.5) * width;
    total += Math.exp(l * sum - (l * l * squares) / 2 - (l * l) / 2);
  }
  return (2 / Math.sqrt(2 * Math.PI)) * total * width;
}

describe('the evidence', () => {
  test.each([
    [3, 1],
    [5, 4],
    [12, 20],
    [1, 0.5],
    [-2, 3],
    [-9, 6],
    [0, 2],
  ])('of a sum of %d and squares of %d is the mixture, from below', (sum, squares) => {
    const exact = Math.log(evidenceByIntegral(sum, squares));
    const answered = logEvidence(sum, squares);
    expect(answered).toBeLessThanOrEqual(exact + 1e-9);
    expect(answered).toBeGreaterThan(exact - (sum >= 1.5 * Math.sqrt(1 + squares) ? 0.001 : 0.25));
  });

  test('of any rewards is a number, and a verdict comes by the horizon at the latest', () => {
    const rewards = fc.oneof(
      fc.double({ min: -1e300, max: 1e300, noNaN: true }),
      fc.constantFrom(0, 1, -1, 1e300, -1e300, 1e150, 5e-324),
    );
    const deviations = fc.oneof(fc.constantFrom(0, 1, 1e150, 1e-162), fc.double({ min: 0, max: 1e150, noNaN: true }));
    fc.assert(
      fc.property(deviations, fc.array(fc.tuple(rewards, rewards), { minLength: 1 }), (deviation, pairs) => {
        const after = addPairs(openTest(deviation), pairs);
        expect([logEvidence(after.sum, after.squares), after.sum, after.squares].every(Number.isFinite)).toBe(true);
        expect(JSON.parse(JSON.stringify(after))).toEqual(after);
        expect(judgeTest(after, pairs.length)).not.toBeNull();
      }),
    );
  });

  test('begins at nothing, and does not move with equal rewards', () => {
    const test = addPairs(openTest(0.5), [
      [1, 0],
      [1, 0],
    ]);
    const later = addPairs(
      test,
      Array.from({ length: 50 }, (): RewardPair => [0.3, 0.3]),
    );
    expect(later).toEqual({ ...test, pairs: 52 });
    expect(judgeTest(openTest(1), 30)).toBeNull();
    expect(judgeTest(later, 53)).toBeNull();
    expect(judgeTest(later, 52)).toBe('not_better');
  });

  test('is the same in whatever unit rewards are given, and in however many parts the pairs come', () => {
    const rewards = fc.array(fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -20, max: 20 })), {
      minLength: 3,
      maxLength: 60,
    });
    fc.assert(
      fc.property(rewards, fc.constantFrom(1e6, 1e-6, 1 / 3, 1e140), fc.nat({ max: 60 }), (pairs, scale, cut) => {
        const deviation = Math.sqrt(sampleOf(pairs.map(([, control]) => control)).variance);
        fc.pre(deviation > 0);
        const scaled = pairs.map(([child, control]): RewardPair => [child * scale, control * scale]);
        const plain = addPairs(openTest(deviation), pairs);
        const other = addPairs(addPairs(openTest(deviation * scale), scaled.slice(0, cut)), scaled.slice(cut));
        expect(other.pairs).toBe(plain.pairs);
        // At a sum of 0 rounding decides between two bounds; no verdict is near.
        fc.pre(Math.abs(plain.sum) > 1e-9);
        expect(logEvidence(other.sum, other.squares)).toBeCloseTo(logEvidence(plain.sum, plain.squares), 6);
      }),
    );
  });

  test('for the one side and for the other are each other with the sides changed', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }))), (pairs) => {
        const there = addPairs(openTest(1), pairs);
        const back = addPairs(
          openTest(1),
          pairs.map(([child, control]): RewardPair => [control, child]),
        );
        expect(logEvidence(-there.sum, there.squares)).toBe(logEvidence(back.sum, back.squares));
        // Both cannot be shown at once.
        expect(Math.min(logEvidence(there.sum, there.squares), logEvidence(back.sum, back.squares))).toBeLessThan(0.7);
      }),
    );
  });
});
