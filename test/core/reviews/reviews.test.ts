import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { correctionsOf } from '../../../src/core/reviews/corrections.js';
import { hintOf, mostHintChars, mostHintRows, type HintRow } from '../../../src/core/reviews/hint.js';

const text = fc.string({ maxLength: 600, unit: 'binary' });
const anyRow: fc.Arbitrary<HintRow> = fc.record({
  name: fc.nat().map(String),
  input: fc.option(text),
  wanted: fc.option(text),
  got: text,
  notes: fc.array(
    text.filter((note) => note.trim() !== ''),
    { maxLength: 2 },
  ),
});

describe('a hint', () => {
  test('is bounded, a line for each of the first rows, and absent only without rows', () => {
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 20 }), (rows) => {
        const hint = hintOf(rows);
        if (rows.length === 0) return hint === null;
        const lines = hint!.split('\n');
        return (
          hint!.length <= mostHintChars && lines.length - 1 <= Math.min(rows.length, mostHintRows) && lines.length > 1
        );
      }),
    );
  });

  test('names what was asked, wanted, given and noted, rows with notes first', () => {
    const row = { name: '3', input: null, wanted: 'a', got: 'b', notes: [] };
    expect(
      hintOf([row, { ...row, name: '4', input: 'Where\n is it?', wanted: null, notes: ['too long', 'rude'] }]),
    ).toBe(
      [
        'These rows need other answers:',
        '- "Where is it?" and got "b". Note: too long; rude',
        '- Row 3 expects "a", and got "b".',
      ].join('\n'),
    );
  });
});

test('the latest correction of a row counts, whatever its reviewer and candidate', () => {
  const review = { seed: 1, verdict: null, corrected: null };
  const found = correctionsOf([
    { ...review, verdict: 'bad_expected' },
    { ...review, corrected: 'a' },
    { ...review, verdict: 'right' },
    { ...review, corrected: 'b' },
    { ...review, seed: 2, verdict: 'wrong' },
    { ...review, seed: null, corrected: 'c' },
    { ...review, seed: 3, verdict: 'bad_expected' },
  ]);
  expect([...found]).toEqual([
    [1, { corrected: 'b', isBad: true }],
    [3, { corrected: null, isBad: true }],
  ]);
});
