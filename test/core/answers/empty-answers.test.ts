import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addEmpty,
  areInVain,
  emptySentences,
  totalEmpty,
  unsolvedEmpty,
  type EmptyCounts,
} from '../../../src/core/answers/empty-answers.js';
import { emptyReasons, type EmptyReason } from '../../../src/core/answers/ending.js';

const reasons = fc.constantFrom<EmptyReason | null>(...emptyReasons, null);

test('counts sum up, whatever the order and the batches', () => {
  fc.assert(
    fc.property(fc.array(reasons), fc.nat(20), (all, at) => {
      const counts = addEmpty({}, all);
      expect(totalEmpty(counts)).toBe(all.filter((reason) => reason !== null).length);
      expect(addEmpty(addEmpty({}, all.slice(at)), all.slice(0, at))).toEqual(counts);
      // The sentences name each counted reason and its count.
      const told = emptySentences(counts).match(/(?<!\S)\d+: /g) ?? [];
      expect(told.map((text) => parseInt(text))).toEqual(emptyReasons.flatMap((reason) => counts[reason] ?? []));
    }),
  );
});

test.each<[EmptyCounts, number, boolean]>([
  [{}, 0, false],
  [{}, 5, false],
  [{ length: 3 }, 6, false],
  [{ length: 4 }, 6, true],
  [{ length: 2, refusal: 2 }, 6, true],
  [{ length: 2, nothing: 3 }, 6, false],
  [{ nothing: 5 }, 6, false],
  [{ nothing: 6 }, 6, true],
  [{ length: 1, nothing: 5 }, 6, true],
])('%j of %d answers: a search is in vain: %s', (counts, answers, inVain) => {
  expect(areInVain(counts, answers)).toBe(inVain);
});

test('an empty answer that is right does not count', () => {
  const answer = { text: '', thoughts: null, finishReason: 'stop', refusal: null };
  expect([0, 0.5, 1].map((reward) => unsolvedEmpty(answer, reward))).toEqual(['nothing', 'nothing', null]);
});
