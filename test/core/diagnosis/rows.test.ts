import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RowCause, SampledRow } from '../../../src/core/diagnosis/diagnosis.js';
import { refusedByCause } from '../../../src/core/diagnosis/proposals.js';
import { causeOf, diagnosedRows, unnamedLabels } from '../../../src/core/diagnosis/rows.js';
import { duplicateProposal, tooLongProposal, unusableProposal } from '../../../src/core/proposals/failure-reasons.js';
import { sampled } from './records.js';

const context = { labels: ['card_control', 'cash_ops'], prompt: 'Answer with card_control.' };

describe('the cause of one row', () => {
  test.each<[RowCause, string, Partial<SampledRow>]>([
    ['failed', 'the rollout failed', { error: 'provider answered 500' }],
    ['scorer', 'the scorer gave no reward', { error: 'it answered 503', unscored: true }],
    ['empty', 'it stopped at its limit', { answered: '', empty: 'length', finishReason: 'length' }],
    ['empty', 'there was no call', { answered: null }],
    ['refusal', 'the provider says so', { answered: '', empty: 'refusal' }],
    ['refusal', 'the text says so', { answered: 'I’m sorry, I can’t help with that.' }],
    ['refusal', 'it says sorry first', { answered: "I'm sorry, but I can't assist with that." }],
    ['refusal', 'without an apostrophe', { answered: 'Sorry. I am unable to do that.' }],
    ['label_not_in_prompt', 'pity is no refusal', { expected: ['cash_ops'], answered: "I'm sorry to hear that." }],
    ['format', 'a sentence around it', { answered: 'The team is card_control.' }],
    ['format', 'another case', { answered: 'Card Control' }],
    ['format', 'quotes', { answered: '"card_control"' }],
    ['format', 'a fence of JSON', { answered: '```json\n{"team": "card_control"}\n```' }],
    ['format', 'one of several right answers', { expected: ['no', 'card_control'], answered: 'card control!' }],
    [
      'format',
      'a number in the last sentence',
      { expected: ['18'], answered: '3 * 6 = 18\nSo she makes $18 in 1 day.' },
    ],
    ['format', 'a number as other people write it', { expected: ['1,450'], answered: 'It is 1450.00.' }],
    ['wrong', 'the number is a step on the way', { expected: ['18'], answered: '3 * 6 = 18\n10 + 10 = 20\nDone.' }],
    ['cut', 'a number of a cut answer is a step', { expected: ['18'], answered: '3 * 6 = 18', finishReason: 'length' }],
    ['cut', 'the text is cut', { answered: 'The team that handles', finishReason: 'length' }],
    ['label_not_in_prompt', 'the label is not there', { expected: ['cash_ops'] }],
    ['wrong', 'the label is there', { answered: 'cash_ops' }],
    ['wrong', 'a part of a word is no word', { expected: ['at'], answered: 'cat' }],
    ['wrong', 'nothing is known to be right', { expected: [] }],
  ])('%s: %s', (cause, _, fields) => {
    expect(causeOf(sampled(fields), context)).toBe(cause);
  });
});

test('a prompt that is not known lacks no label', () => {
  expect(unnamedLabels({ ...context, prompt: null })).toEqual([]);
  expect(unnamedLabels(context)).toEqual(['cash_ops']);
});

test('shows the commonest cause first, with different expected values', () => {
  const rows = [
    sampled({ row: 1, error: 'broken' }),
    sampled({ row: 2, expected: ['cash_ops'] }),
    sampled({ row: 3, expected: ['cash_ops'] }),
    sampled({ row: 4, expected: ['cards'] }),
    sampled({ row: 5, expected: ['loans'] }),
  ];
  const shown = diagnosedRows(rows, { labels: ['cash_ops', 'cards', 'loans'], prompt: '' });
  expect(shown.map(({ row, cause }) => [row, cause])).toEqual([2, 4, 5].map((row) => [row, 'label_not_in_prompt']));
});

test('an expected value with case, punctuation and words around it is right in another form', () => {
  const word = fc.stringMatching(/^[a-z]{3,9}$/);
  const around = fc.stringMatching(/^[ "'.,:*`\n]{1,4}$/);
  fc.assert(
    fc.property(word, around, around, fc.boolean(), (expected, before, after, isUpper) => {
      const said = `${before}${isUpper ? expected.toUpperCase() : expected}${after}`;
      expect(causeOf(sampled({ expected: [expected], answered: said }), context)).toBe('format');
    }),
  );
});

test('refused proposals are counted by cause, without loss', () => {
  const reason = fc.oneof(
    fc.constant(duplicateProposal),
    fc.constant(tooLongProposal(900, 500)),
    fc.constant(unusableProposal(3, 'no fence')),
    fc.constant('provider answered 500'),
  );
  fc.assert(
    fc.property(fc.array(fc.record({ reason, count: fc.integer({ min: 1, max: 50 }) })), (reasons) => {
      const refused = refusedByCause(reasons);
      const sum = (all: readonly { count: number }[]) => all.reduce((total, { count }) => total + count, 0);
      expect(sum(refused)).toBe(sum(reasons));
      const duplicates = refused.find(({ cause }) => cause === 'duplicate')?.count ?? 0;
      expect(duplicates).toBe(sum(reasons.filter((one) => one.reason === duplicateProposal)));
      expect(refused.map(({ count }) => count)).toEqual(refused.map(({ count }) => count).sort((a, b) => b - a));
    }),
  );
});
