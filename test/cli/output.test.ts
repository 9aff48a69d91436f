import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { table } from '../../src/cli/service/output.js';
import { printable } from '../../src/util/text.js';

// Texts of others give a terminal no commands.

test('a table has no control character of its cells, and one line a row', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), { minLength: 1 }), (rows) => {
      const lines = table(rows).split('\n');
      expect(lines).toHaveLength(rows.length);
      expect(lines.some((line) => /\p{Cc}/u.test(line))).toBe(false);
    }),
  );
});

test.each([
  ['\u001b]0;title\u0007x', '\uFFFD]0;title\uFFFDx'],
  ['\u001b[2Jx', '\uFFFD[2Jx'],
  ['a\rb\u0008', 'a\uFFFDb\uFFFD'],
  ['\u009b2J', '\uFFFD2J'],
  ['a\tb\nc', 'a\tb\nc'],
  ['a\u202eb\u2066c\u2069', 'a\uFFFDb\uFFFDc\uFFFD'],
  ['a\u2028b\u2029c', 'a\uFFFDb\uFFFDc'],
  ['\u001b[8mhidden', '\uFFFD[8mhidden'],
  ['\u001b[31;8mhidden', '\uFFFD[31;8mhidden'],
  ['\u200fשלום 👩\u200d👩', '\u200fשלום 👩\u200d👩'],
  ['\u001b[31mred\u001b[0m', '\u001b[31mred\u001b[0m'],
])('%j is printed as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});
