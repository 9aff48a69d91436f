import { describe, expect, test } from '@jest/globals';
import {
  compareIndependent,
  conclusionOf,
  rowsToDecide,
  testPaired,
  compareUnpaired,
  sampleOf,
  studentT95,
} from '../../../src/core/math/statistics.js';

describe("the 0.975 quantile of Student's t", () => {
  // Values of a printed table; the last is of the normal distribution.
  test.each([
    [1, 12.706],
    [2, 4.303],
    [5, 2.571],
    [9, 2.262],
    [10, 2.228],
    [11, 2.201],
    [12, 2.179],
    [15, 2.131],
    [20, 2.086],
    [25, 2.06],
    [30, 2.042],
    [40, 2.021],
    [60, 2.0],
    [120, 1.98],
    [1e9, 1.96],
  ])('of %d degrees of freedom is %d', (freedom, expected) => {
    expect(Math.abs(studentT95(freedom) - expected)).toBeLessThanOrEqual(0.00051);
  });

  // Exact values by numerical integration of the density.
  test.each([
    [1.25, 8.028],
    [1.5, 6.0167],
    [2.5, 3.5747],
    [3.5, 2.9401],
    [5.5, 2.5019],
    [7.3, 2.3451],
    [9.5, 2.2441],
    [10.5, 2.2138],
  ])('of %d degrees of freedom is at least %d, and close', (freedom, exact) => {
    const answered = studentT95(freedom);
    expect(answered).toBeGreaterThan(exact - 0.0005);
    expect(answered).toBeLessThan(exact * (freedom < 2 ? 1.03 : 1.005));
  });

  test('falls with the degrees of freedom, beyond the table too', () => {
    const all = Array.from({ length: 800 }, (_, index) => studentT95(1 + index / 4));
    expect(all).toEqual([...all].sort((left, right) => right - left));
  });
});

describe('a paired comparison', () => {
  test('is the mean difference and t times its standard error', () => {
    // Differences 1, 2, 3: mean 2, variance 1, standard error 1 / sqrt(3), t 4.303.
    const { difference, low, high } = testPaired([2, 4, 6], [1, 2, 3]);
    expect(difference).toBe(2);
    expect(low).toBeCloseTo(2 - 4.303 / Math.sqrt(3), 9);
    expect(high).toBeCloseTo(2 + 4.303 / Math.sqrt(3), 9);
  });

  test('ignores variance common to both sides', () => {
    const own = [0.1, 0.25, 0.1, 0.2, 0.05, 0.1];
    const at = (base: readonly number[]) =>
      testPaired(
        base.map((value, index) => value + own[index]!),
        base,
      );
    const [level, spread] = [at([0.2, 0.2, 0.2, 0.2, 0.2, 0.2]), at([0, 0.7, 0.2, 0.6, 0.1, 0.5])];
    expect(spread.low).toBeCloseTo(level.low, 9);
    expect(spread.high).toBeCloseTo(level.high, 9);
  });

  test('of equal sides says how many unseen pairs may differ', () => {
    const rewards = [0.5, 1, 0, 1, 1];
    const reach = 1 - 0.025 ** (1 / 5);
    expect(testPaired(rewards, rewards)).toEqual({
      difference: 0,
      low: expect.closeTo(-reach, 9),
      high: expect.closeTo(reach, 9),
      rowsNeeded: null,
    });
    expect(testPaired([4, -6], [4, -6])).toMatchObject({ low: expect.closeTo(-10 * (1 - 0.025 ** 0.5), 9) });
  });

  test('of one pair has an unbounded interval that JSON can represent', () => {
    const single = testPaired([2], [1.25]);
    expect(single).toEqual({
      difference: 0.75,
      low: -Number.MAX_VALUE,
      high: Number.MAX_VALUE,
      rowsNeeded: null,
    });
    expect(JSON.parse(JSON.stringify(single))).toEqual(single);
  });

  test('of rewards of 0 to 1 stays within -1 to 1', () => {
    expect(testPaired([1], [0.25])).toEqual({ difference: 0.75, low: -1, high: 1, rowsNeeded: null });
    expect(testPaired([1, 1, 0], [0, 0, 0])).toEqual({
      difference: expect.closeTo(2 / 3, 9),
      low: expect.closeTo(-0.7677, 4),
      high: 1,
      rowsNeeded: 7,
    });
    expect(compareUnpaired([1, 1, 0], [0, 0, 0]).high).toBe(1);
    expect(compareUnpaired([1, 1, -0.1], [0, 0, 0]).high).toBeGreaterThan(1);
  });

  test('of few graded pairs decides nothing, however small their variance', () => {
    const graded = (pairs: number) => Array.from({ length: pairs }, (_, at) => 0.5 + at / 1_000);
    const zeros = (pairs: number) => graded(pairs).map(() => 0.1);
    for (const pairs of [2, 3, 4]) expect(testPaired(graded(pairs), zeros(pairs)).low).toBeLessThanOrEqual(0);
    expect(testPaired(graded(5), zeros(5)).low).toBeGreaterThan(0);
  });

  test('says how many rows would show its difference', () => {
    // 30 % of the rows won and 20 % lost: variance 0.49, and (2.05 + 0.84)² * 0.49 / 0.1² = 411.
    const rewardsOf = (rows: number) => {
      const share = (from: number, to: number) =>
        Array.from({ length: rows }, (_, at) => (at >= from * rows && at < to * rows ? 1 : 0));
      return [share(0, 0.3), share(0.3, 0.5)] as const;
    };
    const tested = testPaired(...rewardsOf(40));
    expect([conclusionOf(tested), tested.rowsNeeded]).toEqual(['inconclusive', expect.any(Number)]);
    expect(rowsToDecide(tested, 40)).toBeGreaterThan(400);
    expect(rowsToDecide(tested, 40)).toBeLessThan(425);
    expect(rowsToDecide(testPaired(...rewardsOf(500)), 500)).toBeNull();
    expect(rowsToDecide(testPaired([1, 0], [1, 0]), 2)).toBeNull();
  });

  test('is antisymmetric', () => {
    const forward = testPaired([1, 0.5, 0.2, 0.9], [0.1, 0.4, 0.8, 0.3]);
    const backward = testPaired([0.1, 0.4, 0.8, 0.3], [1, 0.5, 0.2, 0.9]);
    expect(forward.difference).toBeCloseTo(-backward.difference, 12);
    expect(forward.low).toBeCloseTo(-backward.high, 12);
  });
});

describe('an independent comparison', () => {
  test('is the mean difference and t times its standard error, with Welch–Satterthwaite degrees', () => {
    // Variances 1 and 25 of 3 values each: standard error sqrt(26 / 3), degrees of freedom
    // (26/3)^2 / ((1/3)^2 / 2 + (25/3)^2 / 2) = 2.160.
    const left = sampleOf([1, 2, 3]);
    const right = sampleOf([-5, 0, 5]);
    expect(left).toEqual({ count: 3, mean: 2, variance: 1, least: 1, greatest: 3 });
    expect(right).toEqual({ count: 3, mean: 0, variance: 25, least: -5, greatest: 5 });
    const { difference, low, high } = compareIndependent(left, right);
    expect(difference).toBe(2);
    expect(high - 2).toBeCloseTo(studentT95((26 / 3) ** 2 / (1 / 18 + 625 / 18)) * Math.sqrt(26 / 3), 9);
    expect(2 - low).toBeCloseTo(high - 2, 9);
  });

  test('matches t.test(extra ~ group) of R for its sleep data', () => {
    const first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
    const { difference, low, high } = compareIndependent(sampleOf(first), sampleOf(second));
    expect(difference).toBeCloseTo(-1.58, 9);
    expect(low).toBeCloseTo(-3.3654832, 3);
    expect(high).toBeCloseTo(0.2054832, 3);
  });

  test('of samples of equal variance and size adds their degrees of freedom', () => {
    const { high } = compareIndependent(sampleOf([1, 2, 3, 4, 5, 6]), sampleOf([1, 2, 3, 4, 5, 6]));
    expect(high).toBeCloseTo(studentT95(10) * Math.sqrt((2 * 3.5) / 6), 9);
  });

  test('ignores a constant side; two constant sides give an exact difference', () => {
    const { high } = compareIndependent(sampleOf([1, 1, 1, 1, 1]), sampleOf([0, 1, 2]));
    expect(high).toBeCloseTo(studentT95(2) * Math.sqrt(1 / 3), 9);
    expect(compareIndependent(sampleOf([1, 1]), sampleOf([0, 0, 0]))).toEqual({
      difference: 1,
      low: 1,
      high: 1,
      rowsNeeded: null,
    });
  });

  test('has an unbounded interval with one value on a side', () => {
    const unknown = { difference: 0.5, low: -Number.MAX_VALUE, high: Number.MAX_VALUE, rowsNeeded: null };
    expect(compareIndependent(sampleOf([1]), sampleOf([0.5, 0.5, 0.5]))).toEqual(unknown);
    expect(compareIndependent(sampleOf([1, 1]), sampleOf([0.5]))).toEqual(unknown);
  });

  test('is finite for extreme rewards', () => {
    const { difference, low, high } = compareIndependent(sampleOf([1e300, -1e300, 0]), sampleOf([1e150, 0]));
    expect([difference, low, high].every(Number.isFinite)).toBe(true);
  });
});

/** Rewards of two sides that tie in `tied` pairs. */
function pairs({ won, lost, tied }: { won: number; lost: number; tied: number }) {
  const side = (mine: number, other: number) =>
    [[won, mine] as const, [lost, other] as const, [tied, 0] as const].flatMap(([n, value]) =>
      Array<number>(n).fill(value),
    );
  return [side(1, 0), side(0, 1)] as const;
}

const excludesZero = ({ low, high }: { low: number; high: number }) => low > 0 || high < 0;

describe('testPaired of right and wrong answers', () => {
  // Coins with heads in 50 % differ in half of the pairs, prompts that solve other rows in all.
  test.each([
    [0.05, 0.04],
    [0.18, 0.04],
    [0.42, 0.042],
    [0.5, 0.044],
    [1, 0.1251],
  ])('of equal sides that differ in %d of the pairs excludes 0 in at most %d, by all outcomes', (unequal, most) => {
    for (let n = 2; n <= 40; n += 1) {
      let wrong = 0;
      for (let won = 0; won <= n; won += 1)
        for (let lost = 0; won + lost <= n; lost += 1) {
          const tied = n - won - lost;
          if (!excludesZero(testPaired(...pairs({ won, lost, tied })))) continue;
          const ways = choose(n, won) * choose(n - won, lost);
          wrong += ways * (unequal / 2) ** (won + lost) * (1 - unequal) ** tied;
        }
      expect([n, wrong <= most]).toEqual([n, true]);
    }
  });

  // Pairs without a difference do not hide the others.
  test.each([
    [{ won: 20, lost: 0, tied: 180 }, true],
    [{ won: 30, lost: 10, tied: 960 }, true],
    [{ won: 5, lost: 0, tied: 15 }, true],
    [{ won: 0, lost: 6, tied: 0 }, true],
    [{ won: 4, lost: 0, tied: 2 }, true],
    [{ won: 3, lost: 0, tied: 0 }, false],
    [{ won: 4, lost: 0, tied: 196 }, false],
    [{ won: 6, lost: 1, tied: 93 }, false],
    [{ won: 520, lost: 480, tied: 0 }, false],
  ])('of %j excludes 0: %s', (counts, excludes) => {
    expect(excludesZero(testPaired(...pairs(counts)))).toBe(excludes);
  });

  test('has an interval of some width wherever there is a difference', () => {
    for (const n of [2, 3, 4, 50]) {
      const { low, high } = testPaired(Array<number>(n).fill(0.5), Array<number>(n).fill(0.25));
      expect(high).toBeGreaterThan(low);
      expect(low > 0).toBe(n > 3);
    }
  });
});

function choose(n: number, k: number): number {
  let ways = 1;
  for (let at = 1; at <= k; at += 1) ways = (ways * (n - k + at)) / at;
  return ways;
}
