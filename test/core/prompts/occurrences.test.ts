import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findOccurrences } from '../../../src/core/prompts/occurrences.js';
import { pureRuns } from '../../support/runs.js';

/** A text that counts accesses to its characters. */
function counted(text: string) {
  const seen = { length: text.length, looks: 0, charCodeAt: (at: number) => ((seen.looks += 1), text.charCodeAt(at)) };
  return seen;
}

/** Reference implementation: tries every index. */
function placesOf(part: string, text: string): number[] {
  return [...text].flatMap((_, at) => (text.startsWith(part, at) ? [at] : []));
}

describe('findOccurrences', () => {
  test('finds all occurrences, including overlaps', () => {
    expect([...findOccurrences('aa', 'aaaba aa')]).toEqual([0, 1, 6]);
    const few = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 40 });
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 }), few, (part, text) => {
        expect([...findOccurrences(part, text)]).toEqual(placesOf(part, text));
      }),
      { numRuns: pureRuns(1_000) },
    );
  });

  test.each([
    ['many overlapping', 'a'.repeat(500), 'a'.repeat(1_000)],
    ['many near matches', `b${'a'.repeat(500)}`, 'a'.repeat(1_000)],
    ['nearly everywhere', `${'a'.repeat(500)}b`, 'a'.repeat(1_000)],
    ['repeated near matches', `${'ab'.repeat(250)}c`, 'ab'.repeat(500)],
    ['longer than the text', 'a'.repeat(1_000), 'a'.repeat(500)],
  ])('takes linear time: %s', (_, part, text) => {
    const [wanted, given] = [counted(part), counted(text)];
    expect([...findOccurrences(wanted, given)]).toEqual(placesOf(part, text));
    expect(wanted.looks + given.looks).toBeLessThanOrEqual(6 * (part.length + text.length));
  });
});
