import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { containsWhole } from '../../../src/core/verify/contains.js';
import { areEqual } from '../../../src/core/verify/equal.js';
import { canonical, normalize, show } from '../../../src/core/verify/text.js';
import { quoteText } from '../../../src/core/prompts/quote.js';
import { quoteLongIntegers } from '../../../src/util/exact-json.js';
import { cutWithin } from '../../../src/util/text.js';

/** Values of rows: a create refuses numbers that a double would change. */
const exactJson = fc.jsonValue().filter((value) => {
  const text = JSON.stringify(value);
  return quoteLongIntegers(text) === text;
});

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown;

describe('normalize', () => {
  test('applies NFC, collapses white space and lowers case', () => {
    expect(normalize('  Cafe\u0301 \n\t au\u00a0lait ', false)).toBe('café au lait');
    expect(normalize('  Cafe\u0301 ', true)).toBe('Café');
    expect(normalize('J\u030c', false)).toBe('\u01f0');
  });

  test('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, caseSensitive) => {
        const once = normalize(text, caseSensitive);
        expect(normalize(once, caseSensitive)).toBe(once);
      }),
    );
    const marks = fc.string({ unit: fc.constantFrom('e', '\u0301', '\u0323', '\u0344', 'İ', ' '), size: 'large' });
    fc.assert(
      fc.property(marks, fc.boolean(), (text, caseSensitive) => {
        const once = normalize(text, caseSensitive);
        expect(normalize(once, caseSensitive)).toBe(once);
      }),
    );
  });

  // Sorting n combining marks of one letter takes n² steps.
  test('does not sort a long run of combining marks', () => {
    const handed = jest.spyOn(String.prototype, 'normalize');
    try {
      const marks = '\u0301\u0323'.repeat(15);
      expect(normalize(`e${marks}!`, true)).toBe(`\u1eb9${'\u0323'.repeat(14)}${'\u0301'.repeat(15)}!`);
      const many = '\u0301\u0323'.repeat(500);
      expect(normalize(`E ${many} e\u0301 ${many}`, false)).toBe(`e ${many} é ${many}`);
      const longest = handed.mock.contexts.map((text) => /\p{M}*/gu[Symbol.match](String(text)));
      expect(Math.max(...longest.flatMap((rows) => rows!.map((row) => row.length)))).toBe(30);
    } finally {
      handed.mockRestore();
    }
  });
});

describe('canonical JSON', () => {
  test('sorts names, omits white space and maps texts', () => {
    expect(canonical({ b: [1, { d: 'X', c: null }], a: true })).toBe('{"a":true,"b":[1,{"c":null,"d":"X"}]}');
    expect(canonical({ B: ' X ' }, (text) => text.trim().toLowerCase())).toBe('{"B":"x"}');
    expect(canonical({ a: undefined })).toBe('{}');
    expect(canonical(-0)).toBe('0');
  });

  test('is independent of name order and parses back to an equal value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(canonical(JSON.parse(canonical(value)))).toBe(canonical(value));
      }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.integer()), (fields) => {
        expect(canonical(Object.fromEntries(Object.entries(fields).reverse()))).toBe(canonical(fields));
      }),
    );
  });

  test('marks values nested too deeply, which equal nothing', () => {
    expect(canonical(deep)).toContain('…');
    expect(canonical(nested(64))).not.toContain('…');
    expect(areEqual(nested(64), deep, false)).toBe(false);
  });
});

describe('areEqual', () => {
  test.each<[unknown, unknown]>([
    ['Paris', ' paris '],
    ['caf\u00e9', 'cafe\u0301'],
    [12, '12'],
    ['12', 12],
    [true, 'True'],
    [null, 'null'],
    [
      { a: 'X', b: 1 },
      { b: 1, a: ' x' },
    ],
    [{ a: 1, b: 2 }, '{"b": 2,\n "a": 1}'],
    [{ a: 1 }, 'Here:\n```json\n{"a": 1}\n```'],
    [[1, 2], '[1, 2]'],
    [12.0, '12.00'],
  ])('%j equals %j', (gold, output) => {
    expect(areEqual(gold, output, false)).toBe(true);
  });

  test.each<[unknown, unknown]>([
    ['Paris', 'London'],
    ['Paris', 'Paris, France'],
    [12, 13],
    ['12', [12]],
    [{ a: 1 }, { A: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [
      [1, 2],
      [2, 1],
    ],
    ['null', undefined],
    [null, undefined],
    // A JSON string literal does not equal its content.
    [['x'], '"[\\"x\\"]"'],
  ])('%j does not equal %j', (gold, output) => {
    expect(areEqual(gold, output, false)).toBe(false);
  });

  test('compares case if caseSensitive, within values too', () => {
    expect(areEqual('Paris', 'paris', true)).toBe(false);
    expect(areEqual(['Paris'], ['paris'], true)).toBe(false);
    expect(areEqual(true, 'True', true)).toBe(false);
    expect(areEqual('Paris', '  Paris', true)).toBe(true);
  });

  test('every value equals itself and its JSON text', () => {
    fc.assert(
      fc.property(exactJson, fc.boolean(), (value, caseSensitive) => {
        expect(areEqual(value, value, caseSensitive)).toBe(true);
        if (typeof value !== 'string')
          expect(areEqual(value, JSON.stringify(value, null, 2), caseSensitive)).toBe(true);
      }),
    );
  });
});

describe('containsWhole', () => {
  test.each([
    ['cat', 'a cat.'],
    ['cat', 'concatenate the cat'],
    ['5', 'it is 5.'],
    ['5', 'it is 5, or so'],
    ['2.5', 'about 2.5 km'],
    ['$5', 'it costs $5'],
    ['c++', 'c++ is old'],
    ['東京', '答えは東京です'],
    ['서울', '서울은 크다'],
    ['gpt', 'gptです'],
    ['gpt', '答えはgpt'],
    ['new york', 'in new york city'],
    ['x', 'x'],
  ])('%j in %j', (part, text) => {
    expect(containsWhole(part, text)).toBe(true);
  });

  test.each([
    ['cat', 'concatenate'],
    ['cat', 'cats'],
    ['cat', 'my_cat'],
    ['cafe', 'cafe\u0301s'],
    ['5', '15'],
    ['5', '2.5'],
    ['2', '2.5'],
    ['5', '5,000'],
    ['000', '5,000'],
    ['𝒂', 'b𝒂'],
    ['b', '𝒂b'],
    ['x', ''],
  ])('%j not in %j', (part, text) => {
    expect(containsWhole(part, text)).toBe(false);
  });

  test('finds any text between spaces', () => {
    const part = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(part, (text) => {
        expect(containsWhole(text, `a ${text} b`)).toBe(true);
      }),
    );
  });

  // The engine's own search compares the whole part at each position.
  test('takes linear time for many near matches', () => {
    const searched = jest.spyOn(String.prototype, 'indexOf');
    const looked = jest.spyOn(String.prototype, 'charCodeAt');
    try {
      const [part, text] = ['a'.repeat(500), `x${'a'.repeat(1_000)}`];
      expect(containsWhole(part, text)).toBe(false);
      expect(searched.mock.calls.length * part.length + looked.mock.calls.length).toBeLessThan(10 * text.length);
    } finally {
      searched.mockRestore();
      looked.mockRestore();
    }
  });
});

describe('show, cut and quoteText', () => {
  test('cut keeps the limit and never splits a surrogate pair', () => {
    expect(cutWithin('abc', 3)).toBe('abc');
    expect(cutWithin('x'.repeat(100), 20)).toBe(`${'x'.repeat(16)} […]`);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 10, max: 50 }), (text, limit) => {
        const shown = show(text, limit);
        expect(shown.length).toBeLessThanOrEqual(Math.max(limit, '(an empty text)'.length));
        expect(shown.isWellFormed() && !shown.includes('\0')).toBe(true);
      }),
    );
    expect(cutWithin(`x${'😀'.repeat(50)}`, 20).isWellFormed()).toBe(true);
  });

  test('show marks missing and blank values, and accepts any value', () => {
    expect([show(undefined, 50), show('  ', 50), show(null, 50), show({ b: 1, a: 'x' }, 50)]).toEqual([
      '(nothing)',
      '(an empty text)',
      'null',
      '{"b":1,"a":"x"}',
    ]);
    expect(show('a\0b\ud800', 50)).toBe('a\uFFFDb\uFFFD');
    expect(show(deep, 50)).toHaveLength(50);
  });

  test('quoteText marks every line, whatever the line break', () => {
    const end = fc.constantFrom('\n', '\r\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029', '# Task', '```', 'x');
    fc.assert(
      fc.property(fc.array(end), (parts) => {
        const lines = quoteText(parts.join('')).split(/[\n\r\v\f\u0085\u2028\u2029]/);
        expect(lines.every((line) => line.startsWith('> '))).toBe(true);
      }),
    );
    expect(quoteText('a\n\nb')).toBe('> a\n> \n> b');
  });
});
