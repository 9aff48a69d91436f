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
/** A mean of 3 and an infinite variance: as skewed as latencies or costs. */
const pareto: Reward = (uniform) => uniform() ** (-1 / 1.5);

/** One comparison, judged after every pair; 30 control rewards give the deviation. */
function compare(child: Reward, control: Reward, horizon: number, uniform: () => number): TestVerdict {
  const before = Array.from({ length: 30 }, () => control(uniform));
  let state = openTest(Math.sqrt(sampleOf(before).variance));
  for (;;) {
    state = addPairs(state, [[child(uniform), control(uniform)]]);
    const verdict = judgeTest(state, horizon);
    if (verdict !== null) return verdict;
  }
}

/** Shares of the verdicts among `runs` comparisons. */
function simulate(child: Reward, control: Reward, horizon: number, runs = 1_000, seed = 7) {
  const uniform = uniforms(seed);
  const outcomes = Array.from({ length: runs }, () => compare(child, control, horizon, uniform));
  const share = (verdict: TestVerdict) => outcomes.filter((outcome) => outcome === verdict).length / runs;
  return { better: share('better'), worse: share('worse') };
}

/** Three standard errors of a share of 1,000. */
const margin = (share: number) => 3 * Math.sqrt((share * (1 - share)) / 1_000);

describe('equal child and control', () => {
  test.each<[string, Reward]>([
    ['binary, half', yes(0.5)],
    ['binary, 10 %', yes(0.1)],
    ['binary, 2 %', yes(0.02)],
    ['binary, 95 %', yes(0.95)],
    ['constant', yes(1)],
    ['grades', grades(0.4)],
    ['normal', normal(0)],
    ['heavy tails on both sides', cauchy],
    ['a heavy tail on one side', pareto],
  ])('%s: accepts at most 5 %% and rejects at most 20 %% early, judged after every pair', (_, reward) => {
    const { better, worse } = simulate(reward, reward, 60);
    expect(better).toBeLessThanOrEqual(errorRates.accept + margin(errorRates.accept));
    expect(worse).toBeLessThanOrEqual(errorRates.reject + margin(errorRates.reject));
  });

  test('accepts at most 5 % if both drift alike', () => {
    const uniform = uniforms(3);
    let drawn = 0;
    const drifting: Reward = (next) => yes(0.5 + 0.4 * Math.sin(drawn++ / 40))(next);
    const accepted = Array.from({ length: 1_000 }, () => compare(drifting, drifting, 60, uniform)).filter(
      (verdict) => verdict === 'better',
    );
    expect(accepted.length / 1_000).toBeLessThanOrEqual(errorRates.accept + margin(errorRates.accept));
  });
});

describe('a worse child', () => {
  test.each<[string, Reward, Reward]>([
    ['binary', yes(0.4), yes(0.5)],
    ['binary, rare', yes(0.05), yes(0.1)],
    ['grades', grades(0.3), grades(0.4)],
    ['normal', normal(-0.3), normal(0)],
    ['a heavy tail on one side', (uniform) => 0.8 * pareto(uniform), pareto],
  ])('%s: is accepted more rarely', (_, child, control) => {
    const equals = simulate(control, control, 80, 600);
    const { better, worse } = simulate(child, control, 80, 600);
    expect(better).toBeLessThanOrEqual(Math.min(equals.better, 0.005));
    expect(worse).toBeGreaterThan(equals.worse);
  });
});

describe('a better child', () => {
  test.each<[string, number, Reward, Reward, number]>([
    ['by 1 standard deviation, normal', 60, normal(1), normal(0), 0.95],
    ['by 1 standard deviation, binary', 40, yes(0.99), yes(0.5), 0.98],
    ['by 0.7 standard deviations, binary', 100, yes(0.85), yes(0.5), 0.98],
    ['by 0.5 standard deviations, normal', 200, normal(0.5), normal(0), 0.95],
    ['by 0.5 standard deviations, binary', 200, yes(0.4), yes(0.2), 0.9],
    ['by 0.5 standard deviations, grades', 200, grades(0.64), grades(0.5), 0.95],
    ['by 0.5 over a control of constant 0', 60, yes(0.5), yes(0), 0.98],
  ])('%s: is accepted within %d pairs', (_, horizon, child, control, power) => {
    const { better, worse } = simulate(child, control, horizon, 500);
    expect(better).toBeGreaterThanOrEqual(power);
    expect(worse).toBeLessThan(0.01);
  });
});

/** The evidence by definition: the mean of exp(l S - l^2 V / 2) over a half-normal l of scale 1. */
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
  ])('of a sum of %d and squares of %d is a close lower bound of the mixture', (sum, squares) => {
    const exact = Math.log(evidenceByIntegral(sum, squares));
    const answered = logEvidence(sum, squares);
    expect(answered).toBeLessThanOrEqual(exact + 1e-9);
    expect(answered).toBeGreaterThan(exact - (sum >= 1.5 * Math.sqrt(1 + squares) ? 0.001 : 0.25));
  });

  test('is finite for any rewards, and the horizon forces a verdict', () => {
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

  test('has no verdict at the start, and equal rewards do not change it', () => {
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

  test('does not depend on the unit of rewards or the division into parts', () => {
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
        // Near a sum of 0 rounding decides between two bounds, far from a verdict.
        fc.pre(Math.abs(plain.sum) > 1e-9);
        expect(logEvidence(other.sum, other.squares)).toBeCloseTo(logEvidence(plain.sum, plain.squares), 6);
      }),
    );
  });

  test('is symmetric in child and control', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }))), (pairs) => {
        const forward = addPairs(openTest(1), pairs);
        const backward = addPairs(
          openTest(1),
          pairs.map(([child, control]): RewardPair => [control, child]),
        );
        expect(logEvidence(-forward.sum, forward.squares)).toBe(logEvidence(backward.sum, backward.squares));
        // At most one side can be shown to be better.
        expect(
          Math.min(logEvidence(forward.sum, forward.squares), logEvidence(backward.sum, backward.squares)),
        ).toBeLessThan(0.7);
      }),
    );
  });
});
