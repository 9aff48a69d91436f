import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { costFront, type RewardAndCost } from '../../../src/core/search/cost-front.js';
import { seedRng, shuffle } from '../../../src/core/math/random.js';

const amounts = fc.constantFrom(0, 0.5, 1, 2);
const paid = fc.constantFrom(0.25, 0.5, 1, 2);
const anyOf = (costUsd: fc.Arbitrary<number | null>, tokens: fc.Arbitrary<number | null>) =>
  fc.array(fc.record({ reward: amounts, costUsd, tokens, calls: amounts }), { minLength: 1, maxLength: 12 });
const unknown = fc.option(amounts, { freq: 1 });

test.each([
  ['dollars', anyOf(paid, unknown), (one: RewardAndCost) => one.costUsd!],
  ['tokens, where dollars are not known', anyOf(fc.constant(null), paid), (one: RewardAndCost) => one.tokens!],
  ['calls, where neither is', anyOf(fc.constant(null), fc.constant(null)), (one: RewardAndCost) => one.calls],
])('by %s nobody on the front is beaten, and whoever is not on it is beaten by one that is', (_, all, costOf) => {
  const beats = (one: RewardAndCost, other: RewardAndCost) =>
    (one.reward > other.reward && costOf(one) <= costOf(other)) ||
    (one.reward === other.reward && costOf(one) < costOf(other));
  fc.assert(
    fc.property(all, (candidates) => {
      const front = costFront(candidates);
      for (const one of candidates) {
        expect(front.some((other) => beats(other, one))).toBe(!front.includes(one));
      }
      expect(front.map(costOf)).toEqual(front.map(costOf).sort((left, right) => left - right));
    }),
  );
});

test('one measure is for all: who has no price is compared by tokens, and so are the others', () => {
  const priced = { reward: 1, costUsd: 9, tokens: 1, calls: 1 };
  const free = { reward: 1, costUsd: 0, tokens: 2, calls: 1 };
  const unpriced = { reward: 0, costUsd: null, tokens: 3, calls: 1 };
  expect(costFront([priced, free])).toEqual([free]);
  expect(costFront([priced, free, unpriced])).toEqual([priced]);
});

test('what costs nobody anything tells nobody apart', () => {
  const short = { reward: 0.5, costUsd: 0, tokens: 10, calls: 1 };
  const good = { reward: 1, costUsd: 0, tokens: 20, calls: 2 };
  expect(costFront([good, short])).toEqual([short, good]);
  const unread = { tokens: 0, costUsd: 0 };
  expect(
    costFront([
      { ...good, ...unread },
      { ...short, ...unread },
    ]),
  ).toHaveLength(2);
});

test('does not depend on the order in which candidates come', () => {
  fc.assert(
    fc.property(anyOf(unknown, unknown), fc.integer(), (candidates, seed) => {
      const [shuffled] = shuffle(seedRng(seed), candidates);
      expect(new Set(costFront(shuffled))).toEqual(new Set(costFront(candidates)));
    }),
  );
});
