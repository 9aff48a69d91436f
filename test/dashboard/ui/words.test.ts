/** A word diff contains both texts. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { wordDiff } from '../../../dashboard/src/ui/diff/words.js';

const text = fc
  .array(fc.constantFrom('a', 'the ', 'cat', ' dog', '\n', ' ', '.', 'é', '😀'))
  .map((words) => words.join(''));

test('the pieces but the added ones are the first text, those but the removed ones the second', () => {
  fc.assert(
    fc.property(text, text, fc.boolean(), (a, b, isLong) => {
      const [before, after] = isLong ? [a + '\nline'.repeat(2_000), b + '\nline'.repeat(2_000)] : [a, b];
      const pieces = wordDiff(before, after);
      const without = (kind: string) => pieces.filter((piece) => piece.kind !== kind).map((piece) => piece.text);
      expect(without('added').join('')).toBe(before);
      expect(without('removed').join('')).toBe(after);
    }),
  );
});

test('only the changed words are marked', () => {
  expect(wordDiff('Answer with one label.', 'Answer with exactly one label.')).toEqual([
    { kind: 'same', text: 'Answer with ' },
    { kind: 'added', text: 'exactly ' },
    { kind: 'same', text: 'one label.' },
  ]);
});
