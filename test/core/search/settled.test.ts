import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { foldAnswers, openBatch, requestsOf, rewardsOf, type Pair } from '../../../src/core/search/batch.js';
import { countedRollouts, settledRollouts, type AskedRollout } from '../../../src/core/search/settled.js';

test('the rollouts that count are those whose rewards the search counted, however much was asked again', () => {
  const seeds = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 6 });
  const outcomes = fc.infiniteStream(fc.record({ fails: fc.boolean(), infrastructure: fc.boolean() }));
  fc.assert(
    fc.property(seeds, outcomes, fc.nat({ max: 8 }), (wanted, stream, budget) => {
      let batch = openBatch(
        wanted.map((seed): Pair => [1, seed]),
        10,
      );
      let next = 10 + wanted.length;
      let left = budget;
      const stored: (AskedRollout & { reward: number })[] = [];
      while (rewardsOf(batch) === null) {
        const answers = requestsOf(batch, 'gate', 1).map(({ ordinal, seed }) => {
          const { fails, infrastructure } = stream.next().value;
          // Each rollout has a reward of its own, so that the reward says which was counted.
          stored.push({ ordinal, seed, infrastructure: fails && infrastructure, reward: fails ? 0 : ordinal });
          return { ordinal, reward: fails ? null : ordinal, infrastructure: fails && infrastructure };
        });
        const before = next;
        ({ batch, nextOrdinal: next } = foldAnswers(batch, answers, next, left));
        left -= next - before;
      }
      const settled = settledRollouts(wanted, stored.reverse());
      expect(settled.map((one) => one!.reward)).toEqual(rewardsOf(batch));
      expect(settled.map((one) => one!.seed)).toEqual(wanted);
    }),
  );
});

test('what was not asked for yet is null, and what is of no seed here is left out', () => {
  const rollout = { ordinal: 4, seed: 7, infrastructure: false };
  expect(settledRollouts([7, 8, 7], [rollout])).toEqual([rollout, null, null]);
  expect(settledRollouts([7], [])).toEqual([null]);
  expect(settledRollouts([8, 7], [{ ...rollout, ordinal: 2, seed: 9 }, rollout])).toEqual([null, rollout]);
});

test('of a test in several batches those rollouts count whose rewards the search counted', () => {
  const outcomes = fc.infiniteStream(fc.record({ fails: fc.boolean(), infrastructure: fc.boolean() }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), outcomes, (batches, stream) => {
      let next = 0;
      const stored: (AskedRollout & { reward: number })[] = [];
      const counted: number[] = [];
      for (let n = 0; n < batches; n += 1) {
        let batch = openBatch([[1, 7]], next);
        next += 1;
        while (rewardsOf(batch) === null) {
          const answers = requestsOf(batch, 'gate', 1).map(({ ordinal, seed }) => {
            const { fails, infrastructure } = stream.next().value;
            stored.push({ ordinal, seed, infrastructure: fails && infrastructure, reward: fails ? 0 : ordinal });
            return { ordinal, reward: fails ? null : ordinal, infrastructure: fails && infrastructure };
          });
          ({ batch, nextOrdinal: next } = foldAnswers(batch, answers, next, 9));
        }
        counted.push(...rewardsOf(batch)!);
      }
      expect(countedRollouts(stored.reverse()).map(({ reward }) => reward)).toEqual(counted);
    }),
  );
});
