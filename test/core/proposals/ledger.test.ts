import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sameText, showLedger, type TriedText } from '../../../src/core/proposals/ledger.js';
import { requireNew } from '../../../src/core/proposals/reflection.js';

const tried = (text: string, changes: Partial<TriedText> = {}): TriedText => {
  return { text, status: 'rejected', gain: -0.5, seeds: 2, ...changes };
};

test('names what each child adds and what came of it', () => {
  const parent = 'Read it.\nBe brief.';
  const [, ...entries] = showLedger(parent, [
    tried(`${parent}\nRound down.`),
    tried('Guess.', { status: 'evaluated', gain: 0.25, seeds: 1 }),
    tried('Ask.', { status: 'proposed', gain: null }),
  ]);
  expect(entries).toEqual([
    '- Refused (-0.50 mean reward on 2 inputs):\n> Round down.',
    '- Accepted (+0.25 mean reward on 1 input):\n> Guess.',
    '- No result yet:\n> Ask.',
  ]);
  expect(showLedger(parent, [])).toEqual([]);
});

test('keeps the newest entries within its budget, and quotes every line of a text', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', '\n', '# ', '```', '\r'), maxLength: 3_000 })),
      (texts) => {
        const [, ...entries] = showLedger(
          'p',
          texts.map((text) => tried(text)),
        );
        expect(entries.join('').length).toBeLessThanOrEqual(4_000);
        expect(entries.length).toBeGreaterThanOrEqual(Math.min(1, texts.length));
        for (const entry of entries) {
          const [, ...lines] = entry.split(/[\n\r]/);
          expect(lines.every((line) => line.startsWith('> '))).toBe(true);
        }
      },
    ),
  );
});

test('a text is known whatever its white space', () => {
  expect(sameText(' Read  it.\n', 'Read\nit.')).toBe(true);
  expect(sameText('Read it.', 'Read him.')).toBe(false);
  const known = (text: string) => sameText(text, 'Read it.');
  expect(requireNew({ ok: true, text: 'Read\nit.' }, known)).toMatchObject({ ok: false, unchanged: true });
  expect(requireNew({ ok: true, text: 'Ask.' }, known)).toEqual({ ok: true, text: 'Ask.' });
});
