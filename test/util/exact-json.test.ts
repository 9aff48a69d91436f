import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inexactNumbers, pathOfNumber, quoteLongIntegers } from '../../src/util/exact-json.js';

const literalsIn = (text: string) => [...inexactNumbers(text)].map(({ literal }) => literal);

test.each([
  '9007199254740993',
  '-9007199254740993',
  '1234567890123456789',
  '12345678901234567',
  '3.14159265358979323846',
  '1234567890123456789e3',
  '0.12345678901234567891',
])('%s is inexact', (literal) => {
  expect(literalsIn(`{"a":[1, ${literal}]}`)).toEqual([literal]);
  expect(literalsIn(JSON.stringify({ a: literal, b: `"${literal}` }))).toEqual([]);
});

test.each([
  '9007199254740992',
  '0.10000000000000001',
  '0.30000000000000004',
  '1e22',
  '10000000000000000000',
  '1.50000000000000000000',
  // Powers of two beyond 1e21, which print with an exponent.
  '1180591620717411303424',
  '-9444732965739290427392',
])('%s is exact', (literal) => {
  expect(literalsIn(`[${literal}]`)).toEqual([]);
});

test('every double is exact as JavaScript writes it, and as 17 digits', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(literalsIn(`[${value}, ${value.toPrecision(17)}]`)).toEqual([]);
    }),
  );
});

test('whole numbers are inexact exactly if a double changes them', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 17n) + 1n, max: 10n ** 17n - 1n }), (value) => {
      const isChanged = BigInt(Number(value)) !== value;
      const found = literalsIn(`[${value}]`);
      // With zeros at its end it may be the rounded form of a double.
      if (value % 10n === 0n) expect(isChanged || found.length === 0).toBe(true);
      else expect(found).toEqual(isChanged ? [String(value)] : []);
    }),
  );
});

test('long whole numbers become texts, by their places', () => {
  const text = '{"a": {"b": [1, 1234567890123456789]}, "c": 3.14159265358979323846}';
  const [first] = inexactNumbers(text);
  expect(pathOfNumber(text, first!)).toEqual(['a', 'b', '1']);
  expect(JSON.parse(quoteLongIntegers(text))).toEqual({ a: { b: [1, '1234567890123456789'] }, c: 3.141592653589793 });
  expect(quoteLongIntegers('{"a":1}')).toBe('{"a":1}');
});

test('any text takes linear time', () => {
  for (const hostile of ['1', '1.', '-1', '"1', '1e', '"\\\\"', '1 ', '1234567890123456789,'])
    expect(quoteLongIntegers(hostile.repeat(50_000)).length).toBeGreaterThan(0);
});
