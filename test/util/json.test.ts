import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { asObject, canonicalJson, exceedsJsonLimits, isObject } from '../../src/util/json.js';

test('canonical JSON follows RFC 8785', () => {
  // The example of section 3.2.2, and the order of names of section 3.2.3.
  const numbers = '[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001, -0]';
  expect(canonicalJson(JSON.parse(numbers))).toBe('[333333333.3333333,1e+30,4.5,0.002,1e-27,0]');
  const string = String.raw`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`;
  expect(canonicalJson(JSON.parse(string))).toBe(String.raw`"€$\u000f\nA'B\"\\\\\"/"`);
  const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
  const written = canonicalJson(Object.fromEntries(names.map((name) => [name, null])));
  expect([...written.matchAll(/"([^"]+)":/g)].map(([, name]) => name)).toEqual([
    '\\r',
    '1',
    '\u0080',
    '\u00f6',
    '\u20ac',
    '\ud83d\ude00',
    '\ufb33',
  ]);
  expect(canonicalJson({ 10: 1, 9: 2, a: undefined })).toBe('{"10":1,"9":2}');
  expect(canonicalJson(JSON.parse('{"b":{"__proto__":1},"__proto__":{"d":2,"c":1}}'))).toBe(
    '{"__proto__":{"c":1,"d":2},"b":{"__proto__":1}}',
  );
});

test('equal values have equal canonical JSON, in any order of their fields', () => {
  const reversed = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(reversed)
      : isObject(value)
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([name, inner]) => [name, reversed(inner)]),
          )
        : value;
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(reversed(value))).toBe(text);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
  );
});

test('canonical JSON can map strings and limit the depth', () => {
  const upper = { text: (text: string) => text.toUpperCase() };
  expect(canonicalJson({ b: ['x', 1], a: 'y' }, upper)).toBe('{"a":"Y","b":["X",1]}');
  expect(canonicalJson([[1], 2], { depth: 1 })).toBe('[…,2]');
});

test('an object is neither a list nor null', () => {
  expect([{}, [], null, 'x', undefined].map(isObject)).toEqual([true, false, false, false, false]);
  expect([asObject({ a: 1 }), asObject([1])]).toEqual([{ a: 1 }, null]);
});

const many = { values: 3, names: 9 };
test.each([
  ['[1,1,1,1]', many, true],
  ['[1,1,1,1]', { ...many, values: 4 }, false],
  ['{"a":{"b":[1]}}', { ...many, values: 2 }, true],
  // Neither in texts nor in names, whatever is escaped there.
  ['["[,,,,,,,,,,,,"]', many, false],
  [String.raw`{"\",,,,,,,,":"\\\",,,,,,,"}`, many, false],
  [String.raw`["\\",1,1,1,1]`, many, true],
  ['["an open text,,,,,,', many, false],
  ['[{"a" :1},{"a": 1},{"b":1}]', { values: 9, names: 2 }, false],
  ['[{"a" :1},{"a": 1},{"b":1}]', { values: 9, names: 1 }, true],
  ['["a:","b:","c:","d:"]', { values: 9, names: 0 }, false],
])('%s exceeds %j: %s', (text, limits, exceeds) => expect(exceedsJsonLimits(text, limits)).toBe(exceeds));
