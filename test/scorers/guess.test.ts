import { expect, test } from '@jest/globals';
import { guessScorer } from '../../src/scorers/guess.js';

test.each<[string, unknown[], string, boolean]>([
  ['steps and a number behind a mark', ['9 * 2 = 18\n#### 18', 'So 276,000\n#### 276,000'], 'numeric', true],
  ['steps and a word behind a mark', ['It flies.\n#### bird', 'It is 3.\n#### 3'], 'exact', true],
  ['numbers', ['12,5', '1,450', '-3', '45 %', null, ''], 'numeric', false],
  ['JSON numbers', [1, 2.5], 'numeric', false],
  ['lists of numbers', [[1, '2'], 3], 'numeric', false],
  ['one number with words', ['12', 'about 13'], 'exact', false],
  ['codes', ['007', '0815'], 'exact', false],
  ['a mark in one row only', ['a\n#### 1', 'two'], 'exact', false],
  ['objects', [{ a: 1, b: 2 }, { a: 2 }], 'json', false],
  ['answers of SQuAD', [{ text: ['Denver'], answer_start: [1] }], 'exact', false],
  ['nothing', [null, ''], 'exact', false],
])('%s', (_, answers, type, isMarked) => {
  expect(guessScorer(answers, false)).toEqual({ type, isMarked });
});

test('labels are compared as they are, also where they are numbers', () => {
  expect(guessScorer(['0', '1', '1'], true).type).toBe('exact');
});
