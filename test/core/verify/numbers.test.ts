import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isClose, lastNumber, parseNumbers, soleNumber, type ReadNumber } from '../../../src/core/verify/numbers.js';

const valuesIn = (text: string) => parseNumbers(text).map(({ value }) => value);

describe('parseNumbers', () => {
  test.each<[string, number[]]>([
    ['no number', []],
    ['42', [42]],
    ['1_234 and 12_345_678.5', [1_234, 12_345_678.5]],
    ['–5 and ‑1,5 and 3–4', [-5, -1.5, 3, 4]],
    ['½ and 1½ and 2 ¾ and -¼', [0.5, 1.5, 2.75, -0.25]],
    ['１２．５％', [12.5]],
    [',5', [0.5]],
    ['-,25 %', [-0.25]],
    ['Yes,5', [5]],
    ['The answer is 42.', [42]],
    ['first 1, then 2', [1, 2]],
    ['.5 and 0.25 and 7.', [0.5, 0.25, 7]],
    ['1,234,567.8', [1_234_567.8]],
    ["12'345 or 12\u00a0345 or 12\u202f345", [12_345, 12_345, 12_345]],
    ['12,34 and 1,2345', [12.34, 1.2345]],
    ['1234,567', [1234.567]],
    ['1234 567 890 and GPT7 123 456', [1_234, 567, 890, 123, 456]],
    ['1,5', [1.5]],
    ['-12,5 % and −0,125', [-12.5, -0.125]],
    ['1.234,56 and 9.999,56', [1_234.56, 9_999.56]],
    ['1.234', [1.234]],
    ['8.000.000 ₫', [8_000_000]],
    ['9.990,00 €', [9_990]],
    ['12,34,567 and 1,23,456.5', [1_234_567, 123_456.5]],
    ['₹1,00,00,000', [10_000_000]],
    ['3 291,00 € and 1\u2009400 Р and 6 300 300', [3_291, 1_400, 6_300_300]],
    ["CHF 1'234.50", [1_234.5]],
    ['$ 119,999', [119_999]],
    ['-€ 5,5', [-5.5]],
    ['1, 2', [1, 2]],
    ['1,2,3', [1, 2, 3]],
    ['[1,5]', [1, 5]],
    ['50,- Kč', [50]],
    ['0,123', [0.123]],
    ['2024 100 200', [2024, 100, 200]],
    ['1,5e3 and 1,5 × 10^3', [1_500, 1_500]],
    ['-3 and = −4 and +5 and (-6)', [-3, -4, 5, -6]],
    ['10-3', [10, 3]],
    ['(2)-3', [2, 3]],
    ['- 3 apples', [3]],
    ['2020-05-17', [2020, 5, 17]],
    ['1.2e-5 and 3E8 and 5e3m', [1.2e-5, 3e8, 5]],
    ['3 × 10^8', [3e8]],
    ['3 * 10**8', [3e8]],
    [String.raw`2.5 \times 10^{-3}`, [2.5e-3]],
    ['2 x 10^−3', [2e-3]],
    ['5x10', [5]],
    ['3/4', [0.75]],
    ['It is 3/4.', [0.75]],
    ['-1/4', [-0.25]],
    [String.raw`\boxed{-\frac{3}{4}}`, [-0.75]],
    ['1 3/4', [1, 0.75]],
    ['3/4/2020', [3, 4, 2020]],
    ['1/0', []],
    ['1e999', []],
    ['$5 and -$7 and US$ 8 and €1,000 and \\$9', [5, -7, 8, 1000, 9]],
    ['$-5', [-5]],
    ['GPT4 and x_2 and v3', []],
    ['1.2.3 of 4', [4]],
    ['5km, 2nd', [5, 2]],
    ['答えは-5です', [-5]],
    ['5 million', [5]],
    ['10:30', [10, 30]],
  ])('%j', (text, values) => {
    expect(valuesIn(text)).toEqual(values);
  });

  test('records a percent sign without changing the value', () => {
    expect(parseNumbers('45% 45 % 45\\% 45')).toEqual([
      { value: 45, percent: true },
      { value: 45, percent: true },
      { value: 45, percent: true },
      { value: 45, percent: false },
    ]);
  });

  test('parses any finite number', () => {
    fc.assert(
      fc.property(
        fc.double({ noDefaultInfinity: true, noNaN: true }),
        fc.constantFrom('', 'It is ', '= '),
        (value, before) => {
          expect(lastNumber(`${before}${value}`)!.value + 0).toBe(value + 0);
        },
      ),
    );
  });

  test('parses any whole number with thousands separators', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(valuesIn(value.toLocaleString('en-US'))).toEqual([value]);
      }),
    );
  });

  test('never throws, and takes linear time', () => {
    const piece = fc.constantFrom(
      '1',
      '23',
      '.',
      ',',
      '/',
      '-',
      'e',
      '×',
      '10^',
      '{',
      '}',
      '%',
      '\\frac',
      ' ',
      'x',
      '$',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(valuesIn(pieces.join('')).every(Number.isFinite)).toBe(true);
      }),
    );
    for (const hostile of ['1', 'A1', '1,', '1.', '1/', '1,234', ' ', '1 ', '-', '.', '\\frac{1}', 'a1111']) {
      expect(parseNumbers(`x${hostile.repeat(100_000)}`).every(({ value }) => Number.isFinite(value))).toBe(true);
    }
    expect(valuesIn(`8 A${'1'.repeat(500_000)} 7`)).toEqual([7]);
    expect(valuesIn(`8 A${'1'.repeat(90_000)} 7`)).toEqual([8, 7]);
  });
});

describe('soleNumber', () => {
  const value = (of: unknown) => {
    const sole = soleNumber(of);
    return 'number' in sole ? sole.number.value : null;
  };
  test.each<[unknown, number | null]>([
    [5, 5],
    ['12,5', 12.5],
    ['1.234,56', 1_234.56],
    ['1,23,456', 123_456],
    ['$1,500', 1_500],
    ['45 %', 45],
    ['-3/4', -0.75],
    ['#### 72', 72],
    ['N/A 5', 5],
    ['3.14 (approx., 2 decimals)', null],
    ['5 or 6', null],
    ['1 3/4', null],
    ['1,2,3', null],
    ['1,234,56', null],
    ['1.2.3', null],
    ['1.2.3 of 4', null],
    ['2020-05-17', null],
    ['5 million', null],
    ['1e999', null],
    ['none', null],
    [null, null],
    [['5'], null],
  ])('%j: %j', (expected, number) => {
    expect(value(expected)).toBe(number);
  });

  test.each(['en-US', 'de-DE', 'fr-FR', 'de-CH', 'hi-IN', 'pt-BR', 'sv-SE'])('reads amounts of %s', (locale) => {
    const format = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), (cents) => {
        expect(value(format.format(cents / 100))! + 0).toBe(cents / 100 + 0);
      }),
    );
  });
});

test('lastNumber returns a number itself and null for other values', () => {
  expect(lastNumber(0)).toEqual({ value: 0, percent: false });
  for (const none of [null, undefined, true, [1], { answer: 1 }, Number.NaN, Infinity, 'one', '']) {
    expect(lastNumber(none)).toBeNull();
  }
});

describe('isClose', () => {
  const number = (value: number, percent = false): ReadNumber => ({ value, percent });
  const relative = { tolerance: 0.1, relative: true };
  const absolute = { tolerance: 0.1, relative: false };
  test.each<[ReadNumber, ReadNumber, typeof relative, boolean]>([
    [number(100), number(110), relative, true],
    [number(-100), number(-90), relative, true],
    [number(100), number(110.1), relative, false],
    [number(100), number(100.1), absolute, true],
    [number(100), number(100.11), absolute, false],
    [number(1), number(1.1), absolute, true],
    [number(0), number(0.1), relative, true],
    [number(0), number(0.11), relative, false],
    [number(3), number(-3), relative, false],
    [number(45), number(45, true), relative, true],
    [number(0.45), number(45, true), relative, true],
    [number(45, true), number(0.45), relative, true],
    [number(45, true), number(45), relative, true],
    [number(45, true), number(45, true), relative, true],
    // Both are percentages: no second reading.
    [number(45, true), number(0.45, true), relative, false],
    [number(45), number(0.45), relative, false],
    [number(0), number(-0), { tolerance: 0, relative: true }, true],
    [number(0.3), number(0.1 + 0.2), { tolerance: 0, relative: true }, true],
    [number(1e308), number(-1e308), relative, false],
  ])('expected %j, given %j, %j: %s', (expected, given, closeness, close) => {
    expect(isClose(expected, given, closeness)).toBe(close);
  });

  test('any number is close to itself', () => {
    const any = fc.double({ noDefaultInfinity: true, noNaN: true });
    fc.assert(
      fc.property(any, fc.boolean(), (value, isRelative) => {
        expect(isClose(number(value), number(value), { tolerance: 0, relative: isRelative })).toBe(true);
      }),
    );
  });
});

test.each(['5k', '1.5M', '5 Tsd', '0x10', '0b11', '(5)', '($1,234.50)', '- 5', '− $5', '±5', '1½ or 2'])(
  'the expected value %j is refused: the number alone is not surely what is meant',
  (text) => expect(soleNumber(text)).toEqual({ problem: expect.any(String) }),
);

test.each([
  ['5 m', 5],
  ['five (5)', 5],
  ['1_000', 1_000],
  ['½', 0.5],
  ['–5', -5],
  [',5', 0.5],
])('the expected value %j is %d', (text, value) => {
  expect(soleNumber(text)).toEqual({ number: { value, percent: false } });
});
