import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { clusterByFeedback, pickFailures } from '../../../src/core/proposals/feedback-clusters.js';

const failures = (...feedback: string[]) => feedback.map((text) => ({ feedback: text, reward: 0 }));
const mixed = failures(
  'Wrong on refunds: say amber.',
  'Wrong on parcels: say birch.',
  'Wrong on invoices: say cobalt.',
  'Wrong on parcels: say birch.',
  'Wrong on refunds: say amber.',
  'Wrong on invoices: say cobalt.',
);

describe('clusterByFeedback', () => {
  test('groups the first remaining failure with the most similar ones', () => {
    expect(clusterByFeedback(mixed, 2, 3)).toEqual([
      [0, 4],
      [1, 3],
      [2, 5],
    ]);
  });

  test('ignores words of nearly all failures', () => {
    // The rare word "x" decides, though failure 1 shares more words with failure 0 than 3.
    const given = failures('wrong on say x', 'wrong on say y', 'wrong on say z', 'x alone');
    expect(clusterByFeedback(given, 2, 1)).toEqual([[0, 3]]);
  });

  test('fills groups with dissimilar failures in order', () => {
    expect(clusterByFeedback(failures('a', 'b', 'c', 'd'), 3, 1)).toEqual([[0, 1, 2]]);
  });

  test('compares words in any script and case', () => {
    const given = failures('УСЛОВИЕ один', 'другое два', 'условие три', 'иное четыре');
    expect(clusterByFeedback(given, 2, 1)).toEqual([[0, 2]]);
  });

  test('accepts no failures, and texts without words', () => {
    expect(clusterByFeedback([], 3, 2)).toEqual([[], []]);
    expect(clusterByFeedback(failures('', '…', '!?'), 2, 2)).toEqual([[0, 1], [2]]);
  });

  test('repeats failures across groups if they are too few', () => {
    const groups = clusterByFeedback(failures('a', 'b'), 2, 3);
    expect(groups).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
  });
});

test('for any feedback: groups have distinct indexes, and no index repeats while failures remain', () => {
  const texts = fc.array(
    fc.oneof(fc.constantFrom('', 'a b', 'b c', 'c a', '__proto__ constructor'), fc.string({ unit: 'grapheme' })),
    {
      maxLength: 12,
    },
  );
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }), (feedback, size, count) => {
      const given = failures(...feedback);
      const groups = clusterByFeedback(given, size, count);
      expect(clusterByFeedback(given, size, count)).toEqual(groups);
      expect(groups).toHaveLength(count);
      for (const group of groups) {
        expect(group.length).toBeLessThanOrEqual(size);
        expect(new Set(group).size).toBe(group.length);
        expect(group.length > 0).toBe(given.length > 0);
        for (const index of group) expect(given[index]).toBeDefined();
      }
      if (size * count <= given.length) {
        expect(new Set(groups.flat()).size).toBe(size * count);
      } else {
        expect(new Set(groups.flat()).size).toBe(given.length);
      }
    }),
  );
});

test('pickFailures returns the group of its index, all failures without a pick', () => {
  expect(pickFailures(mixed, { size: 2, index: 1, of: 3 })).toEqual([mixed[1], mixed[3]]);
  expect(pickFailures(mixed, undefined)).toEqual(mixed);
});
