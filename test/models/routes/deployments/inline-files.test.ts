import { describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { withoutFiles } from '../../../../src/models/routes/deployments/inline-files.js';

const bytes = randomBytes(3_001);
const inLines = (text: string, width: number, end = '\r\n') => text.match(new RegExp(`.{1,${width}}`, 'g'))!.join(end);
const forms: [string, string][] = [
  ['base64', bytes.toString('base64')],
  ['base64url', bytes.toString('base64url')],
  ['lines as in mail', inLines(bytes.toString('base64'), 76)],
  ['lines of base64url', inLines(bytes.toString('base64url'), 64, '\n')],
];

describe.each(forms)('%s', (_, file) => {
  test('is left out after data:, and what is around it stays', () => {
    const text = withoutFiles(`See data:image/png;base64,${file}") and more.\nThe end.`);
    expect(text).toBe(`See data:image/png;base64,[${file.length} characters left out]") and more.\nThe end.`);
  });

  test('is left out where it is the whole text', () => {
    expect(withoutFiles(file)).toBe(`[${file.length} characters left out]`);
  });
});

test.each([
  ['a short word of base64', 'data:text/plain;base64,aGVsbG8= is hello'],
  ['prose', 'This is a text. '.repeat(400)],
  ['long lines of words', `${'word '.repeat(20)}\n`.repeat(40)],
  ['a list of words of one length', `${Array.from({ length: 900 }, () => 'word').join('\n')}`],
])('%s stays', (_, text) => expect(withoutFiles(text)).toBe(text));

test('a line of text after a file of one line stays', () => {
  const file = 'A'.repeat(76);
  expect(withoutFiles(`data:a/b;base64,${file}\nHello world`)).toBe(
    'data:a/b;base64,[76 characters left out]\nHello world',
  );
});

test('what is left out of a text is left out of it once, and texts without a head stay whole', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '=', '\n', ' ', '"', 'data:x;base64,'), maxLength: 300 }),
      (text) => {
        const once = withoutFiles(text);
        expect(withoutFiles(once)).toBe(once);
        if (!text.includes('base64,')) expect(once).toBe(text);
      },
    ),
  );
});
