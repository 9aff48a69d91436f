import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { compilePattern } from '../../src/util/linear-regex.js';
import { patternCost } from '../../src/util/pattern-cost.js';
import { heldMs, maxHeldMs } from '../support/held.js';

const sizeOf = (pattern: string) => RE2JS.compile(pattern).programSize();

const atom = fc.constantFrom(
  'a',
  '.',
  '\\d',
  '\\pL',
  '\\p{Greek}',
  '[a-z]',
  '[]\\]a]',
  '[^\\pL-]',
  '\\Qx{9}\\E',
  '{',
  '\\x{41}',
);
const times = fc.constantFrom('*', '+', '?', '{3}', '{2,}', '{0,7}', '{1,5}?', '{,2}');
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.tuple(atom, times).map(([one, how]) => one + how),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => left + right),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(${left}|${right})`),
    fc.tuple(tie('pattern'), times).map(([inner, how]) => `(?:${inner})${how}`),
  ),
}));

test('the cost of a pattern is not below half of its instructions', () => {
  fc.assert(
    fc.property(pattern, (text) => {
      expect(2 * patternCost(text, '').instructions + 2).toBeGreaterThanOrEqual(sizeOf(text));
    }),
    { numRuns: 300 },
  );
});

test.each([
  ['a{3}', 3],
  ['a{3,}', 4],
  ['(?:ab){2}', 8],
])('%s costs %i instructions', (text, instructions) => {
  expect(patternCost(text, '').instructions).toBe(instructions);
});

describe('patterns that are not compiled', () => {
  test.each<[string, string, string]>([
    ['repetitions side by side', 'x{0,1000}'.repeat(100), ''],
    ['nested repetitions', '(?:(?:ab){30}c){30}'.repeat(20), ''],
    ['a repeated group', '(?P<name>[a-z]{100}|b){10}'.repeat(10), ''],
    ['classes', '\\pL'.repeat(330), 'i'],
    ['classes in a class', `[${'\\pL'.repeat(330)}]`, 'i'],
    ['wide ranges', '[B-\\x{1E942}]'.repeat(70), 'i'],
    ['wide ranges by a group', `(?si)${'[B-\\x{1E942}]'.repeat(70)}`, ''],
    ['a range of characters', '[B-\u{1E942}]'.repeat(140), 'i'],
  ])('%s', async (_name, text, flags) => {
    let compiled: object | undefined;
    const held = await heldMs(() => {
      for (let n = 0; n < 100; n += 1) compiled = compilePattern(text, flags);
    });
    expect(compiled).toHaveProperty('problem');
    expect(held).toBeLessThan(maxHeldMs);
  });
});

test.each([
  ['a'.repeat(900), ''],
  ['[\\pL\\pN]{400}', ''],
  ['[a-z]{3,200}@[\\x{4e00}-\\x{9fff}]+', ''],
  ['\\p{Lu}\\p{Ll}+', 'i'],
  ['^[\\s\\S]{0,300}$', 'm'],
])('%.30s (%s) can be used', (text, flags) => {
  expect(compilePattern(text, flags)).toHaveProperty('size');
});

test('a pattern is compiled once', () => {
  expect(compilePattern('^once$', 'i')).toBe(compilePattern('^once$', 'i'));
  expect(compilePattern('^once$')).not.toBe(compilePattern('^once$', 'i'));
});
