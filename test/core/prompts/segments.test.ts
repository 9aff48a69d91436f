import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isBlank, splitSegments, tokenize } from '../../../src/core/prompts/segments.js';
import { hostile, longTexts } from './texts.js';

describe('splitSegments', () => {
  test('joins back to the same text; no piece is empty', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const pieces of [splitSegments(text), tokenize(text)]) {
          expect(pieces.join('')).toBe(text);
          expect(pieces).not.toContain('');
        }
        if (!isBlank(text)) expect(splitSegments(text).some(isBlank)).toBe(false);
      }),
    );
    for (const text of longTexts()) expect(splitSegments(text).join('')).toBe(text);
  });

  test.each([
    ['One. Two! "Three?" Four', ['One. ', 'Two! ', '"Three?" ', 'Four']],
    ['A line\n\n- **Bold.** Then more\n', ['A line\n\n', '- **Bold.** ', 'Then more\n']],
    ['Use units, e.g. metres, v1.2 too.', ['Use units, e.g. metres, v1.2 too.']],
    ['1. First. Second.\n2. Third.', ['1. First. ', 'Second.\n', '2. Third.']],
    ['  indented', ['  indented']],
    ['答えて。理由も。', ['答えて。', '理由も。']],
    ['   ', ['   ']],
    ['', []],
  ])('%j', (text, segments) => {
    expect(splitSegments(text)).toEqual(segments);
  });

  test('text after a sentence does not change the sentence', () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom('\nMore.', '\n\n- more', '\r\nMORE'), (text, more) => {
        const words = (whole: string) => splitSegments(whole).map((segment) => segment.trim());
        const before = words(text).filter((segment) => segment !== '');
        expect(words(text + more).slice(0, before.length)).toEqual(before);
      }),
    );
  });
});
