import { expect, test } from '@jest/globals';
import { heldMs, maxHeldMs } from '../support/held.js';
import { compare } from '../support/scoring.js';

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
const scorers: [name: string, request: unknown, expected: unknown][] = [
  ['exact', 'exact', 'a b'],
  ['exact with an object', 'exact', { a: [1] }],
  ['contains', { type: 'contains', case_sensitive: true }, 'a b'],
  ['contains a repeated text', 'contains', `${'a'.repeat(500)}b`],
  ['contains a repeated word', 'contains', `${'a '.repeat(500)}b`],
  ['numeric', { type: 'numeric', tolerance: 0.1 }, '7'],
  ['json', 'json', { a: [1, { b: 2 }] }],
  ['json with a schema', { type: 'json', schema }, null],
  ['token F1', 'similarity', 'a b c '.repeat(600)],
  ['ROUGE-L', { type: 'similarity', metric: 'rouge_l' }, 'a b c '.repeat(600)],
  ['BLEU', { type: 'similarity', metric: 'bleu' }, 'a b c '.repeat(600)],
  ['regex', { type: 'regex', pattern: '(a*)*b$', flags: 'i' }, null],
];

for (const [name, request, expected] of scorers) {
  test.each(Object.entries(texts))(`${name}: %s`, async (_name, output) => {
    expect(await heldMs(() => compare(request, expected, output))).toBeLessThan(maxHeldMs);
  });
}
