import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { costFront, weighedFront, type RewardAndCost } from '../../../src/core/search/cost-front.js';
import { seedRng, shuffle } from '../../../src/core/math/random.js';

const amounts = fc.constantFrom(0, 0.5, 1, 2);
const paid = fc.constantFrom(0.25, 0.5, 1, 2);
const anyOf = (costUsd: fc.Arbitrary<number | null>, tokens: fc.Arbitrary<number | null>) =>
  fc.array(fc.record({ reward: amounts, costUsd, tokens, calls: amounts }), { minLength: 1, maxLength: 12 });
const unknown = fc.option(amounts, { freq: 1 });

test.each([
  ['dollars', anyOf(paid, unknown), (candidate: RewardAndCost) => candidate.costUsd!],
  ['tokens, with unknown dollars', anyOf(fc.constant(null), paid), (candidate: RewardAndCost) => candidate.tokens!],
  [
    'calls, with unknown dollars and tokens',
    anyOf(fc.constant(null), fc.constant(null)),
    (candidate: RewardAndCost) => candidate.calls,
  ],
])('by %s: the front contains exactly the undominated candidates', (_, all, costOf) => {
  const dominates = (left: RewardAndCost, right: RewardAndCost) =>
    (left.reward > right.reward && costOf(left) <= costOf(right)) ||
    (left.reward === right.reward && costOf(left) < costOf(right));
  fc.assert(
    fc.property(all, (candidates) => {
      const front = costFront(candidates);
      for (const candidate of candidates) {
        expect(front.some((other) => dominates(other, candidate))).toBe(!front.includes(candidate));
      }
      expect(front.map(costOf)).toEqual(front.map(costOf).sort((left, right) => left - right));
    }),
  );
});

test('compares all candidates by tokens if one has no price', () => {
  const priced = { reward: 1, costUsd: 9, tokens: 1, calls: 1 };
  const free = { reward: 1, costUsd: 0, tokens: 2, calls: 1 };
  const unpriced = { reward: 0, costUsd: null, tokens: 3, calls: 1 };
  expect(costFront([priced, free])).toEqual([free]);
  expect(costFront([priced, free, unpriced])).toEqual([priced]);
});

test('ignores a measure that is 0 for all candidates', () => {
  const short = { reward: 0.5, costUsd: 0, tokens: 10, calls: 1 };
  const good = { reward: 1, costUsd: 0, tokens: 20, calls: 2 };
  expect(costFront([good, short])).toEqual([short, good]);
  const zero = { tokens: 0, costUsd: 0 };
  expect(
    costFront([
      { ...good, ...zero },
      { ...short, ...zero },
    ]),
  ).toHaveLength(2);
});

test('does not depend on the order of the candidates', () => {
  fc.assert(
    fc.property(anyOf(unknown, unknown), fc.integer(), (candidates, seed) => {
      const [shuffled] = shuffle(seedRng(seed), candidates);
      expect(new Set(costFront(shuffled))).toEqual(new Set(costFront(candidates)));
    }),
  );
});

describe('the front over reward, cost, time and length', () => {
  const weighed = fc.array(
    fc.record({
      reward: amounts,
      costUsd: paid,
      tokens: fc.constant(null),
      calls: fc.constant(1),
      latencyMs: fc.constantFrom(100, 105, 108, 200),
      promptTokens: fc.constantFrom(5, 10, 20),
    }),
    { minLength: 1, maxLength: 12 },
  );

  test('has the best reward, and something no worse for all that is left out', () => {
    fc.assert(
      fc.property(weighed, (all) => {
        const front = weighedFront(all);
        expect(front[0]!.reward).toBe(Math.max(...all.map(({ reward }) => reward)));
        for (const out of all.filter((each) => !front.includes(each))) {
          const isCovered = front.some(
            ({ reward, costUsd, latencyMs, promptTokens }) =>
              reward >= out.reward &&
              costUsd <= out.costUsd &&
              promptTokens <= out.promptTokens &&
              latencyMs * 0.9 <= out.latencyMs,
          );
          expect(isCovered).toBe(true);
        }
      }),
    );
  });

  test('keeps a shorter and a faster candidate beside the best, and takes close times for equal', () => {
    const best = { reward: 1, costUsd: 3, tokens: null, calls: 1, latencyMs: 200, promptTokens: 300 };
    const short = { ...best, reward: 0.8, costUsd: 2, promptTokens: 20 };
    const fast = { ...best, reward: 0.7, latencyMs: 100 };
    const hardlyFaster = { ...best, reward: 0.7, latencyMs: 190 };
    expect(weighedFront([hardlyFaster, fast, short, best])).toEqual([best, short, fast]);
    const unknown = { ...fast, latencyMs: null };
    expect(weighedFront([unknown, short, best])).toEqual([best, short]);
  });
});
