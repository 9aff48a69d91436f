import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Transform } from '../../../src/core/graphs/graph.js';
import { opSignatures } from '../../../src/core/graphs/ops.js';
import { applyTransform, lastNumber } from '../../../src/core/graphs/transform.js';
import { equivalenceKey, type Json } from '../../../src/core/graphs/values.js';

type Inputs = Record<string, Json>;
const text = (value: Json): Inputs => ({ text: value });
const list = (...items: Json[]): Inputs => ({ list: items });

describe('applyTransform', () => {
  test.each<[Transform, Inputs, Json]>([
    [{ op: 'template', text: '{{a}}: {{b}}' }, { a: 'A {{b}}', b: [1] }, 'A {{b}}: [1]'],
    [{ op: 'object' }, { b: 1, a: [2] }, { b: 1, a: [2] }],
    [{ op: 'list' }, { b: 1, a: [2] }, [1, [2]]],
    [{ op: 'concat' }, { b: [1], a: [[2], 3], c: [] }, [1, [2], 3]],
    [{ op: 'json_parse' }, text('```json\n{"a": [1]}\n```'), { a: [1] }],
    [{ op: 'json_text' }, { value: { a: 'x' } }, '{"a":"x"}'],
    [{ op: 'json_text' }, { value: 'x' }, '"x"'],
    [{ op: 'split', by: ', ' }, text('a, b,c, '), ['a', 'b,c', '']],
    [{ op: 'split', by: '.*' }, text('a.*b'), ['a', 'b']],
    [{ op: 'lines' }, text(' a \r\n\n \rb\n'), ['a', 'b']],
    [{ op: 'join', by: ' + ' }, list('a', 1, { k: null }), 'a + 1 + {"k":null}'],
    [{ op: 'join', by: '' }, list(), ''],
    [{ op: 'lower' }, text('ÀB'), 'àb'],
    [{ op: 'upper' }, text('ßb'), 'SSB'],
    [{ op: 'trim' }, text(' \n a b\u00a0'), 'a b'],
    [{ op: 'number' }, text('from 3 to 1,234.50.'), 1234.5],
    [{ op: 'number' }, text(7), 7],
    [{ op: 'between', start: '<a>', end: '</a>' }, text('x <a> one </a> <a>two</a>'), 'one'],
    [{ op: 'between', start: '|', end: '|' }, text('a|b|c|d'), 'b'],
    [{ op: 'first' }, list('a', 'b'), 'a'],
    [{ op: 'last' }, list('a', null), null],
    [{ op: 'item', index: 1 }, list('a', 'b', 'c'), 'b'],
    [{ op: 'item', index: -1 }, list('a', 'b', 'c'), 'c'],
    [{ op: 'count' }, list('a', 'b'), 2],
    [{ op: 'count' }, list(), 0],
    [{ op: 'pluck', path: 'a.b' }, list({ a: { b: 1 } }, { a: { b: [2] } }), [1, [2]]],
    [{ op: 'unique' }, list('a', ' A', { k: 'x' }, { k: 'X ' }, 1, '1', 1), ['a', { k: 'x' }, 1, '1']],
    [{ op: 'sum' }, list(1, 2.5, -1), 2.5],
    [{ op: 'sum' }, list(), 0],
    [{ op: 'min' }, list(3, -2, 5), -2],
    [{ op: 'max' }, list(-3, -2, -5), -2],
  ])('%j of %j', (transform, inputs, value) => {
    expect(applyTransform(transform, inputs)).toEqual({ ok: true, value });
  });

  test.each<[Transform, Inputs, string]>([
    [{ op: 'template', text: '{{a}}{{a}}' }, { a: 'x'.repeat(600_000) }, 'template gives more than 1000000 characters'],
    [{ op: 'concat' }, { a: [], b: 'x' }, 'concat expects lists, but got the text "x" as b'],
    [{ op: 'json_parse' }, text('{'), 'json_parse expects JSON, but its input is not JSON: the text "{"'],
    [{ op: 'lower' }, text(7), 'lower expects a text, but got the number 7'],
    [{ op: 'trim' }, text({ answer: 'x' }), 'trim expects a text, but got an object with answer'],
    [{ op: 'number' }, text('none at all'), 'number finds no number in the text "none at all"'],
    [{ op: 'number' }, text([1]), 'number expects a text, but got a list of 1'],
    [{ op: 'between', start: '<', end: '>' }, text('a>'), 'between finds no "<" in the text "a>"'],
    [{ op: 'between', start: '<', end: '>' }, text('>a<b'), 'between finds no ">" after "<" in the text ">a<b"'],
    [{ op: 'first' }, list(), 'first finds no item 0 in a list of 0'],
    [{ op: 'last' }, list(), 'last finds no item -1 in a list of 0'],
    [{ op: 'item', index: 2 }, list(1, 2), 'item finds no item 2 in a list of 2'],
    [{ op: 'item', index: -3 }, list(1, 2), 'item finds no item -3 in a list of 2'],
    [{ op: 'count' }, { list: 'abc' }, 'count expects a list, but got the text "abc"'],
    [{ op: 'join', by: 'x'.repeat(600_000) }, list('', '', ''), 'join gives more than 1000000 characters'],
    [{ op: 'pluck', path: 'a' }, list({ a: 1 }, { b: 1 }), 'pluck of item 1: there is no "a" in an object with b'],
    [{ op: 'pluck', path: 'length' }, list('abc'), 'pluck of item 0: there is no "length" in the text "abc"'],
    [
      { op: 'pluck', path: 'constructor' },
      list({ b: 1 }),
      'pluck of item 0: there is no "constructor" in an object with b',
    ],
    [{ op: 'sum' }, list(1, '2'), 'sum expects a list of numbers, but got the text "2" as item 1'],
    [{ op: 'sum' }, list(1e308, 1e308), 'sum is too large for a number'],
    [{ op: 'min' }, list(), 'min has no value for an empty list'],
    [{ op: 'max' }, { list: null }, 'max expects a list, but got null'],
  ])('fails with the reason %#', (transform, inputs, reason) => {
    expect(applyTransform(transform, inputs)).toEqual({ ok: false, reason });
  });

  test('never throws, and gives the kind of value of its signature', () => {
    const ops = Object.keys(opSignatures) as Transform['op'][];
    fc.assert(
      fc.property(fc.constantFrom(...ops), fc.jsonValue({ maxDepth: 3 }), (op, json) => {
        const value = json as Json;
        const all = {
          op,
          text: '{{text}}',
          by: ',',
          index: 1,
          start: 'a',
          end: 'b',
          path: 'a',
        } as unknown as Transform;
        const { takes, gives } = opSignatures[op];
        const inputs: Inputs = takes === 'any' || takes === 'some' ? { text: value } : { [takes]: value };
        const done = applyTransform(all, inputs);
        if (!done.ok) expect(done.reason.startsWith(`${op} `)).toBe(true);
        else if (gives === 'list') expect(Array.isArray(done.value)).toBe(true);
        else if (gives === 'text') expect(typeof done.value).toBe('string');
        else if (gives !== 'any') expect(typeof done.value).toBe(gives);
      }),
      { numRuns: 500 },
    );
  });
});

test.each<[string, number | null]>([
  ['12', 12],
  ['-3.5 deg', -3.5],
  ['3-4', 4],
  ['x-4', 4],
  ['(-4)', -4],
  ['$1,234,567.89', 1234567.89],
  ['1,2', 2],
  ['1,2345', 2345],
  ['12345,678', 678],
  ['5.', 5],
  ['1.2.3', 3],
  ['a1b22c', 22],
  ['٣', null],
  ['1e5', 5],
  ['9'.repeat(400), null],
  ['', null],
])('lastNumber %#', (given, expected) => {
  expect(lastNumber(given)).toBe(expected);
});

test('equivalenceKey ignores case, white space and the order of names', () => {
  expect(equivalenceKey({ b: ' X\u00a0\n y', a: [1] })).toBe(equivalenceKey({ a: [1], b: 'x Y ' }));
  expect(equivalenceKey({ A: 1 })).not.toBe(equivalenceKey({ a: 1 }));
  expect(equivalenceKey('1')).not.toBe(equivalenceKey(1));
  expect(equivalenceKey(['a', 'b'])).not.toBe(equivalenceKey(['a,b']));
  expect(equivalenceKey(null)).not.toBe(equivalenceKey('null'));
});
