import { expect, test } from '@jest/globals';
import { lineSchema } from '../../src/contracts/rules.js';

const isName = (text: string) => lineSchema(100).safeParse(text).success;

test.each([
  'a\u001b[31mb',
  'a\u0007',
  'a\u009b2J',
  'a\rb',
  'a\u202eb',
  'a\u202ab',
  'a\u2066b\u2069',
  'a\u2028b',
  'a\u2029b',
])('%j is no name: a terminal would obey it', (text) => expect(isName(text)).toBe(false));

test.each(['Zoë', '語', 'שלום\u200f', '👩\u200d👩\u200d👧', 'نص عربي', '🏴\u{e0067}\u{e007f}'])(
  '%j is a name',
  (text) => expect(isName(text)).toBe(true),
);
