import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withoutCopies } from '../../../src/core/proposals/copied-rows.js';

const parent = 'Classify the message. Answer with exactly one of the labels, and nothing else.';
const labels = 'Labels: access_desk, card_auth, card_control, card_logistics, cash_ops, ledger_credit, ledger_debit';
const rows = [
  `Message: How much does it cost to send money to the US?\n${labels}`,
  `Message: I still have not seen my new card, it has been a week\n${labels}`,
].map((input) => ({ input, expected: 'pricing_care' }));
const prices = [
  { input: '384,00 €', expected: '384' },
  { input: '1 849 руб.', expected: '1849' },
  { input: '16.00', expected: '16' },
];

// As the 1.5B wrote it.
test('lines that copy a row are taken out, words that rows share stay', () => {
  const text = [
    parent,
    'Costs and fees are pricing_care. For example:',
    '> Message: How much does it cost to send money to the US?',
    `> ${labels}`,
  ].join('\n');
  expect(withoutCopies(text, parent, rows)).toEqual({
    text: [parent, 'Costs and fees are pricing_care. For example:', `> ${labels}`].join('\n'),
    copied: [rows[0]!.input],
  });
});

test('of the title of examples that are all copies nothing is left', () => {
  const text = `${parent}\n\nExamples:\n- How much does it cost to send money to the US? -> pricing_care`;
  expect(withoutCopies(text, parent, rows).text).toBe(parent);
});

test.each([
  ['"384,00 €" -> 38400', true],
  ['- "384,00 €" becomes 384.00', true],
  ['- "384,00 €" becomes 384', false],
  ['Drop zeros: `16.00` is 16, not 16.00.', false],
  ['`16.00` is 16.0', true],
  ['Input: 1 849 руб.\nOutput: 1 849', true],
  ['Input: 1 849 руб.\nOutput: 1849', false],
  ['A comma as in "384,00 €" separates decimals.', false],
  ['"1384,00 €" -> 1384', false],
])('%j: a short row with another answer than its own: %s', (line, isCopy) => {
  const { copied } = withoutCopies(`Extract the price.\n${line}\nAnswer briefly.`, 'Extract the price.', prices);
  expect(copied.length > 0).toBe(isCopy);
});

test('a single row, or one without a right answer, says nothing of short examples and forms', () => {
  expect(withoutCopies(rows[0]!.input, parent, [rows[0]!]).copied).toEqual([]);
  expect(withoutCopies('"16.00" -> 5', parent, [{ input: '16.00', expected: null }]).copied).toEqual([]);
});

test('lines of the parent stay, and a second reading changes nothing', () => {
  const line = fc.constantFrom(
    '',
    'Be brief.',
    '"16.00" -> 5',
    '"16.00" is 16',
    'Examples:',
    '# Form',
    rows[0]!.input.split('\n')[0]!,
    labels,
  );
  const lines = fc.array(line, { maxLength: 8 }).map((list) => list.join('\n'));
  fc.assert(
    fc.property(lines, lines, (before, text) => {
      const shown = [...rows, ...prices];
      expect(withoutCopies(before, before, shown).copied).toEqual([]);
      const once = withoutCopies(text, before, shown);
      expect(withoutCopies(once.text, before, shown)).toEqual({ text: once.text, copied: [] });
      for (const kept of once.text.split('\n')) expect(text).toContain(kept);
    }),
  );
});
