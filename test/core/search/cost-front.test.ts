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
