/** ROUGE-L and BLEU beside reference values. */
import { expect, test } from '@jest/globals';
import { scoreSimilarity } from '../../../src/core/verify/similarity.js';

/**
 * sacrebleu 2.6.0 (`add-k` of 1, `effective_order`, no tokenizer; for `one three` NLTK 3.10.4,
 * method2) and rouge-score 0.1.2 (F1).
 */
test.each<[expected: string, output: string, bleu: number, rougeL: number]>([
  ['the cat sat on the mat', 'the cat sat on the mat', 1, 1],
  ['the cat sat on the mat', 'the cat is on the mat', 0.485492, 0.833333],
  ['the cat sat on the mat', 'a dog ran', 0, 0],
  ['police killed the gunman', 'police kill the gunman', 0.5, 0.75],
  ['police killed the gunman', 'the gunman kill police', 0.5, 0.5],
  [
    'the quick brown fox jumps over the lazy dog',
    'the fast brown fox jumped over the lazy dog near the river bank',
    0.311487,
    0.636364,
  ],
  ['refunds take five working days to reach your account', 'refunds reach your account in five days', 0.297278, 0.5],
  [
    'it is a guide to action that ensures that the military will forever heed party commands',
    'it is a guide to action which ensures that the military always obeys the commands of the party',
    0.455087,
    0.647059,
  ],
  ['the the the the the the the', 'the cat is on the mat', 0.194331, 0.307692],
  ['one two', 'one two', 1, 1],
  ['one two', 'one three', 0.5, 0.5],
  ['one', 'one', 1, 1],
  ['one two three four five', 'one two three', 0.513417, 0.75],
])('%s / %s', (expected, output, bleu, rougeL) => {
  expect(scoreSimilarity('bleu', expected, output).reward).toBeCloseTo(bleu, 6);
  expect(scoreSimilarity('rouge_l', expected, output).reward).toBeCloseTo(rougeL, 6);
});
