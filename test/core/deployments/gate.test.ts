import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { evaluateGate } from '../../../src/core/deployments/gate.js';
import { changedSeeds, type RepeatedRewards } from '../../../src/core/math/repeated-pairs.js';
import { mean } from '../../../src/core/math/rewards.js';
import { counted } from '../../../src/core/math/words.js';
import { rowsToDecide, sampleOf, testPaired } from '../../../src/core/math/statistics.js';
import { verdictOf } from '../../../src/core/search/view.js';
import { pureRuns } from '../../support/runs.js';

// Invariants: min_reward passes iff the mean over all seeds, with failed rollouts as 0 at most,
// reaches it; min_improvement iff the lower end of the paired interval over the incumbent's seeds
// does; one seed never passes; the message contains both rewards.

// Multiples of 1/8 have exact sums and differences, so comparisons need no tolerance.
const grid = (most: number) => fc.integer({ min: -most * 8, max: most * 8 }).map((steps) => steps / 8);
const reward = grid(2);
const orFailed = fc.option(reward, { freq: 4 });
const rewardsOf = fc
  .array(fc.tuple(orFailed, orFailed), { minLength: 1, maxLength: 12 })
  .map((seeds): RepeatedRewards & { incumbent: (number | null)[] } => ({
    candidate: seeds.map(([reward]) => reward),
    incumbent: seeds.map(([, other]) => other),
  }));
const judged = (threshold: Parameters<typeof evaluateGate>[0], rewards: RepeatedRewards) =>
  evaluateGate(threshold, { seeds: rewards.candidate.map((_, at) => at), ...rewards }, 'row');
const atLeast = (minReward: number) => ({ minReward, minImprovement: null });
const betterBy = (minImprovement: number) => ({ minReward: null, minImprovement });
const shown = (value: number) => String(Number(value.toFixed(4)));
/** The reward of a failed rollout of the candidate. */
const worstOf = ({ candidate, incumbent }: RepeatedRewards) =>
  Math.min(0, ...[...candidate, ...(incumbent ?? [])].filter((reward) => reward !== null));
const assertProperty = <T>(property: fc.IProperty<T>): void => fc.assert(property, { numRuns: pureRuns(500) });

describe('min_reward', () => {
  test('passes iff the mean over all seeds reaches it', () => {
    assertProperty(
      fc.property(rewardsOf, grid(2), ({ candidate }, least) => {
        const worst = worstOf({ candidate, incumbent: null });
        const of =
          candidate.map((reward) => reward ?? worst).reduce((reward, other) => reward + other, 0) / candidate.length;
        const verdict = judged(atLeast(least), { candidate, incumbent: null });
        expect(verdict).toMatchObject({ passed: of >= least, incumbentReward: null, comparison: null });
        expect(verdict.candidateReward).toBeCloseTo(of, 12);
        expect(verdict.message).toContain(
          `is ${shown(verdict.candidateReward)} on ${counted(candidate.length, 'row')}`,
        );
        expect(verdict.message).toContain(`min_reward is ${shown(least)}`);
      }),
    );
  });

  test('is inclusive', () => {
    const candidate = [0.25, 0.5, null, 1];
    expect(judged(atLeast(0.4375), { candidate, incumbent: null }).passed).toBe(true);
    const { passed, message: says } = judged(atLeast(0.4376), { candidate, incumbent: null });
    expect(passed).toBe(false);
    expect(says).toBe("The candidate's mean reward is 0.4375 on 4 rows (1 failed and count 0); min_reward is 0.4376.");
  });
});

describe('min_improvement', () => {
  test('passes iff the lower end of the paired interval reaches it', () => {
    assertProperty(
      fc.property(rewardsOf, grid(2), ({ candidate, incumbent }, least) => {
        const common = incumbent.flatMap((reward, at) => (reward === null ? [] : [at]));
        const verdict = judged(betterBy(least), { candidate, incumbent });
        if (common.length === 0) return expect(verdict).toMatchObject({ passed: false, comparison: null });
        const worst = worstOf({ candidate, incumbent });
        const [ours, theirs] = [common.map((at) => candidate[at] ?? worst), common.map((at) => incumbent[at]!)];
        const paired = testPaired(ours, theirs);
        expect(verdict).toMatchObject({
          passed: common.length > 1 && paired.low >= least,
          comparison: { ...paired, rowsNeeded: rowsToDecide(paired, common.length), seeds: common.length },
          incumbentReward: mean(theirs),
          candidateReward: mean(candidate.map((reward) => reward ?? worst)),
        });
      }),
    );
  });

  test('judges as a search and compare do', () => {
    assertProperty(
      fc.property(rewardsOf, grid(2), ({ candidate, incumbent }, least) => {
        const { comparison, passed } = judged(betterBy(least), { candidate, incumbent });
        if (comparison === null) return;
        const { seeds: _, ...interval } = comparison;
        const none = sampleOf([]);
        const { verdict } = verdictOf(interval, { basis: 'heldout', baseline: none, winner: none });
        // What no verdict calls better has shown no gain.
        if (passed && least > 0) expect(verdict).toBe('better');
      }),
    );
  });

  test.each([
    // Two or three equal gains may be tossed coins, whatever their size.
    [2, 0, 0, false],
    [2, 0, -0.5, false],
    [3, 0, 0, false],
    [4, 0, 0, true],
    [4, 0, 0.5, false],
    [20, 0, 0.5, true],
    // Some pairs without a difference.
    [4, 3, 0.001, false],
    [4, 3, 0, true],
    // No difference in a few pairs shows no more than that few unseen ones differ.
    [0, 5, 0, false],
    [0, 5, -0.6, true],
    [0, 200, -0.02, true],
  ])('%i gains and %i equal pairs against %d: %j', (gains, equal, least, passes) => {
    const [candidate, incumbent] = [1, 0].map((reward) => [...Array(gains).fill(reward), ...Array(equal).fill(1)]);
    expect(judged(betterBy(least), { candidate: candidate!, incumbent: incumbent! }).passed).toBe(passes);
  });

  test('counts a failed rollout of the candidate as the lowest reward, 0 at most', () => {
    assertProperty(
      fc.property(rewardsOf, grid(1), ({ candidate, incumbent }, least) => {
        const { message: _, ...failed } = judged(betterBy(least), { candidate, incumbent });
        const worst = worstOf({ candidate, incumbent });
        const filled = judged(betterBy(least), {
          candidate: candidate.map((reward) => reward ?? worst),
          incumbent,
        });
        expect(filled).toMatchObject(failed);
      }),
    );
  });

  test('ignores seeds without an incumbent reward', () => {
    assertProperty(
      fc.property(rewardsOf, fc.nat(), orFailed, grid(1), ({ candidate, incumbent }, index, lucky, least) => {
        const at = index % (candidate.length + 1);
        const more = judged(betterBy(least), {
          // No reward below the others: failed rollouts count the lowest reward.
          candidate: candidate.toSpliced(at, 0, lucky && Math.max(lucky, worstOf({ candidate, incumbent }))),
          incumbent: incumbent.toSpliced(at, 0, null),
        });
        const { passed, incumbentReward, comparison } = judged(betterBy(least), { candidate, incumbent });
        expect(more).toMatchObject({ passed, incumbentReward, comparison });
      }),
    );
  });

  test('never passes on a single common seed', () => {
    assertProperty(
      fc.property(
        fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
        fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
        fc.array(reward, { maxLength: 3 }),
        fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
        (ours, theirs, newSeeds, least) => {
          const verdict = judged(betterBy(least), {
            candidate: [...newSeeds, ours],
            incumbent: [...newSeeds.map(() => null), theirs],
          });
          expect(verdict).toMatchObject({ passed: false, comparison: { seeds: 1 } });
          expect(verdict.message).toContain('(one row shows nothing)');
        },
      ),
    );
  });

  test('the message contains both rewards, the gain, its interval and the condition', () => {
    const rewards = { candidate: [1, 0.5, 1, null], incumbent: [0.5, 0.25, 0.25, 0.25] };
    const { comparison, message: says, passed } = judged(betterBy(0.1), rewards);
    const { low, high } = comparison!;
    expect(passed).toBe(false);
    expect(says).toBe(
      "The candidate's mean reward is 0.625 on 4 rows (1 failed and count 0), against 0.3125: better by 0.3125 on 4 common rows, " +
        `95 % interval ${shown(low)} to ${shown(high)}; its lower end does not reach min_improvement, 0.1. About 16 rows would show such a gain.`,
    );
    assertProperty(
      fc.property(rewardsOf, grid(1), ({ candidate, incumbent }, least) => {
        const verdict = judged(betterBy(least), { candidate, incumbent });
        expect(verdict.message).toContain(
          `is ${shown(verdict.candidateReward)} on ${counted(candidate.length, 'row')}`,
        );
        if (verdict.incumbentReward === null) return expect(verdict.message).toContain('No comparison');
        expect(verdict.message).toContain(`against ${shown(verdict.incumbentReward)}:`);
        expect(verdict.message).toContain(
          `${verdict.passed ? 'reaches' : 'does not reach'} min_improvement, ${shown(least)}.`,
        );
      }),
    );
  });

  test('counts two rollouts of a seed as one, and names the seeds that flipped', () => {
    const orFailedTwice = fc.tuple(orFailed, orFailed, orFailed, orFailed);
    assertProperty(
      fc.property(fc.array(orFailedTwice, { minLength: 1, maxLength: 12 }), (rows) => {
        const first = { candidate: rows.map(([own]) => own), incumbent: rows.map(([, other]) => other) };
        const changed = changedSeeds(first);
        const again = (side: 2 | 3) => changed.map((at) => rows[at]![side]);
        const repeats = { candidate: again(2), incumbent: again(3) };
        const { comparison, flippedSeeds } = judged(betterBy(0), { ...first, repeats });
        const values = [...first.candidate, ...first.incumbent, ...repeats.candidate].filter((value) => value !== null);
        const worst = Math.min(0, ...values);
        const common = rows.flatMap((row, at) => (row[1] === null ? [] : [at]));
        if (common.length === 0) return expect([comparison, flippedSeeds]).toEqual([null, []]);
        const sum = common.reduce((total, at) => {
          const [own, other, ownAgain, otherAgain] = rows[at]!;
          const before = [other!, otherAgain ?? other!];
          if (!changed.includes(at)) return total;
          return total + ((own ?? worst) + (ownAgain ?? worst) - before[0]! - before[1]!) / 2;
        }, 0);
        expect(comparison!.difference).toBeCloseTo(sum / common.length, 9);
        const once = judged(betterBy(0), first).comparison!;
        // What the first rollouts do not show is not shown by the means alone.
        expect(comparison!.low).toBeLessThanOrEqual(once.low + 1e-9);
        expect(comparison!.high).toBeGreaterThanOrEqual(once.high - 1e-9);
        const flips = changed.filter((at) => {
          const [own, other, ownAgain, otherAgain] = rows[at]!;
          return (own ?? worst) !== (ownAgain ?? worst) || (otherAgain !== null && otherAgain !== other);
        });
        expect(flippedSeeds).toEqual(flips);
      }),
    );
  });
});
