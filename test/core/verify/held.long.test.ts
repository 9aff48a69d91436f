import { expect, test } from '@jest/globals';
import { compare } from '../../../src/core/verify/compare.js';
import type { ComparingScorer } from '../../../src/contracts/scoring/scorer.js';
import { heldMs, maxHeldMs } from '../../support/held.js';

// Invariant: no comparing scorer takes more than linear time for an output of a model.

const chars = 1_600_000;
const texts: Record<string, string> = {
  letters: 'a'.repeat(chars),
  words: 'a '.repeat(chars / 2),
  numbers: '1,'.repeat(chars / 2),
  digits: '1'.repeat(chars),
  'spaced digits': '1 '.repeat(chars / 2),
  spaces: `x${' '.repeat(chars)}y`,
  marks: `a${'\u0301\u0327'.repeat(chars / 2)}`,
  characters: '語'.repeat(chars),
  fences: '```\n'.repeat(chars / 4),
  'fenced braces': '```\n{\n```\n'.repeat(chars / 10),
  'broken objects': '{"a":b} '.repeat(chars / 8),
  'small objects': '{"b":1} '.repeat(chars / 8),
  braces: '{'.repeat(chars),
  brackets: '[{'.repeat(chars / 2),
  'nested lists': `${'['.repeat(chars / 2)}${']'.repeat(chars / 2)}`,
  'nested objects': `${'{"a":'.repeat(chars / 6)}1${'}'.repeat(chars / 6)}`,
  objects: `{"a":[${'{"a":1},'.repeat(chars / 10)}1]}`,
  'distinct objects': `{"a":[${Array.from({ length: 90_000 }, (_, n) => `{"n":${n}}`).join()}]}`,
  fields: `{${Array.from({ length: 19_000 }, (_, n) => `"field number ${n}":${n}`).join()}}`,
  thoughts: '<think>'.repeat(chars / 7),
  quotes: '"'.repeat(chars),
  backslashes: '\\'.repeat(chars),
  minuses: '-'.repeat(chars),
  points: '1.'.repeat(chars / 2),
};

const schema = { properties: { a: { uniqueItems: true, items: { type: 'object' } } }, additionalProperties: false };
const scorers: [name: string, scorer: ComparingScorer, expected: unknown][] = [
  ['exact', { mode: 'exact', caseSensitive: false }, 'a b'],
  ['exact with an object', { mode: 'exact', caseSensitive: false }, { a: [1] }],
  ['contains', { mode: 'contains', caseSensitive: true }, 'a b'],
  ['contains a repeated text', { mode: 'contains', caseSensitive: false }, `${'a'.repeat(500)}b`],
  ['contains a repeated word', { mode: 'contains', caseSensitive: false }, `${'a '.repeat(500)}b`],
  ['numeric', { mode: 'numeric', tolerance: 0.1, relative: true }, '7'],
  ['json', { mode: 'json', caseSensitive: false, fields: null, schema: null }, { a: [1, { b: 2 }] }],
  ['json with a schema', { mode: 'json', caseSensitive: false, fields: null, schema }, null],
  ['token F1', { mode: 'similarity', metric: 'token_f1' }, 'a b c '.repeat(600)],
  ['ROUGE-L', { mode: 'similarity', metric: 'rouge_l' }, 'a b c '.repeat(600)],
  ['BLEU', { mode: 'similarity', metric: 'bleu' }, 'a b c '.repeat(600)],
  ['regex', { mode: 'regex', pattern: '(a*)*b$', flags: 'i' }, null],
];

for (const [name, scorer, expected] of scorers) {
  test.each(Object.entries(texts))(`${name}: %s`, async (_name, output) => {
    expect(await heldMs(() => compare(scorer, expected ?? undefined, output))).toBeLessThan(maxHeldMs);
  });
}
