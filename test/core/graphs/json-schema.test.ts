import { describe, expect, test } from '@jest/globals';
import { readJsonText, schemaProblems, valueProblem, type JsonSchema } from '../../../src/core/graphs/json-schema.js';
import type { Json } from '../../../src/core/graphs/values.js';

describe('schemaProblems', () => {
  test.each<[unknown, string]>([
    ['x', 's'],
    [{ type: 'text' }, 's.type'],
    [{ type: [] }, 's.type'],
    [{ type: ['string', 'date'] }, 's.type'],
    [{ properties: [] }, 's.properties'],
    [{ properties: { a: 1 } }, 's.properties.a'],
    [{ items: { minimum: 1 } }, 's.items.minimum'],
    [{ $ref: '#' }, 's.$ref'],
    [{ pattern: '(a+)+' }, 's.pattern'],
    [{ required: 'a' }, 's.required'],
    [{ required: [1] }, 's.required'],
    [{ enum: [] }, 's.enum'],
    [{ additionalProperties: {} }, 's.additionalProperties'],
    [{ description: 1 }, 's.description'],
    [{ description: 'a\0' }, 's'],
    [{ properties: { 'a\0': {} } }, 's'],
    [{ enum: ['a\0'] }, 's'],
    [{ description: 'x'.repeat(20_001) }, 's'],
    [deep(12), `s${'.items'.repeat(11)}`],
    [deep(60), 's'],
  ])('rejects %j', (schema, path) => {
    expect(schemaProblems(schema, 's')).toEqual([{ path, message: expect.any(String) }]);
  });

  test('accepts the supported keywords and reports all problems', () => {
    const right: JsonSchema = {
      type: 'object',
      description: 'd',
      properties: { a: { type: ['string', 'null'] }, b: { type: 'array', items: { enum: [1, 'x'] } } },
      required: ['a'],
      additionalProperties: false,
    };
    expect(schemaProblems(right, 's')).toEqual([]);
    expect(schemaProblems({}, 's')).toEqual([]);
    expect(schemaProblems({ type: 'x', format: 'y', items: { oneOf: [] } }, 's')).toHaveLength(3);
  });
});

describe('valueProblem', () => {
  test('reads each schema keyword once for a value of many items', () => {
    const values = Array.from({ length: 100 }, (_, at) => ({ at }));
    let reads = 0;
    const names: Json[] = values.map(({ at }) => ({
      get at() {
        reads += 1;
        return at;
      },
    }));
    const schema: JsonSchema = { type: 'array', items: { enum: names } };
    expect(valueProblem(schema, values)).toBeNull();
    expect(valueProblem(schema, values)).toBeNull();
    expect(reads).toBe(100);
    expect(valueProblem(schema, [{ at: 100 }])).toContain('[0] must be one of {"at":0}, {"at":1}, ');
  });

  test('checks repeated types and names once per item', () => {
    let reads = 0;
    const counted = <Item>(items: Item[]): Item[] =>
      new Proxy(items, { get: (of, key, self) => ((reads += 1), Reflect.get(of, key, self) as unknown) });
    const type = counted([...Array.from({ length: 100 }, () => 'null' as const), 'object' as const]);
    const required = counted(Array.from({ length: 100 }, () => 'a'));
    const items = Array.from({ length: 100 }, () => ({ a: 1 }));
    expect(valueProblem({ items: { type, required } }, items)).toBeNull();
    expect(reads).toBeLessThan(1_000);
  });

  test.each<[JsonSchema, Json, string | null]>([
    [{}, { anything: [1] }, null],
    [{ type: 'object' }, {}, null],
    [{ type: 'object' }, [], 'the answer must be of type object, but is a list of 0'],
    [{ type: 'object' }, null, 'the answer must be of type object, but is null'],
    [{ type: 'array' }, {}, 'the answer must be of type array, but is an object with nothing in it'],
    [{ type: 'string' }, 'x', null],
    [{ type: 'string' }, 1, 'the answer must be of type string, but is the number 1'],
    [{ type: 'number' }, 1.5, null],
    [{ type: 'number' }, '1', 'the answer must be of type number, but is the text "1"'],
    [{ type: 'integer' }, 2, null],
    [{ type: 'integer' }, 1.5, 'the answer must be of type integer, but is the number 1.5'],
    [{ type: 'boolean' }, false, null],
    [{ type: 'boolean' }, 0, 'the answer must be of type boolean, but is the number 0'],
    [{ type: 'null' }, null, null],
    [{ type: 'null' }, false, 'the answer must be of type null, but is false'],
    [{ type: ['string', 'null'] }, null, null],
    [{ type: ['string', 'null'] }, true, 'the answer must be of type string or null, but is true'],
    [{ enum: ['a', { k: 1 }] }, { k: 1 }, null],
    [{ enum: ['a', 1] }, 'A', 'the answer must be one of "a", 1, but is the text "A"'],
    [{ required: ['a'] }, { a: null }, null],
    [{ required: ['a', 'b'] }, { a: 1 }, 'the answer lacks "b"'],
    [{ required: ['toString'] }, {}, 'the answer lacks "toString"'],
    [{ required: ['a'] }, 'not an object', null],
    [{ properties: { a: { type: 'string' } } }, { a: 1 }, 'a must be of type string, but is the number 1'],
    [{ properties: { a: { type: 'string' } } }, { b: 1 }, null],
    [{ properties: { a: {} }, additionalProperties: false }, { a: 1, b: 2 }, 'the answer must not have "b"'],
    [{ additionalProperties: false }, { constructor: 1 }, 'the answer must not have "constructor"'],
    [
      { properties: { a: { items: { properties: { k: { type: 'null' } } } } } },
      { a: [{}, { k: 1 }] },
      'a[1].k must be of type null, but is the number 1',
    ],
    [{ items: { type: 'string' } }, ['x', 2], '[1] must be of type string, but is the number 2'],
  ])('%j: %j', (schema, value, problem) => {
    expect(valueProblem(schema, value)).toBe(problem);
  });
});

describe('readJsonText', () => {
  test.each<[string, Json, JsonSchema?]>([
    ['{"a": 1}', { a: 1 }],
    [' [1]\n', [1]],
    ['"x"', 'x'],
    ['\ufeff7\u00a0', 7],
    ['```json\n{"a": 1}\n```', { a: 1 }],
    ['\n```\n[]\n```\n', []],
    ['```json\r\n{"a":\r\n1}\r\n```', { a: 1 }],
    ['```JSON\n"```"\n  ```', '```'],
    ['Here: {"a": 1}', { a: 1 }],
    ['````json\n{"a": 1}\n````\nThat is it.', { a: 1 }],
    ['<think>{"a": 0}</think>{"a": 1}', { a: 1 }],
    ['{"a": 1}\n\nSources: [{"b": 2}]', [{ b: 2 }]],
    ['{"a": 1}\n\nSources: [{"b": 2}]', { a: 1 }, { type: 'object' }],
    ['{"a": 1}\n\nSources: [{"b": 2}]', [{ b: 2 }], { type: ['array', 'string'] }],
    ['[{"b": 2}]', [{ b: 2 }], { type: 'object' }],
  ])('%j', (text, value, ...[schema]) => {
    expect(readJsonText(text, schema)).toEqual({ ok: true, value });
  });

  test.each([
    ['', 'has no JSON: an empty text'],
    ['```json\n{"a": 1}', 'has no JSON'],
    ['```\n```', 'has no JSON'],
    ["{'a': 1}", 'has no JSON'],
    ['NaN', 'has no JSON'],
    ['It is 4.', 'has no JSON: the text "It is 4."'],
    ['['.repeat(100_000) + ']'.repeat(100_000), 'is nested deeper than 50 levels'],
    [JSON.stringify('x'.repeat(1_000_001)), 'is larger than 1000000 characters'],
  ])('finds none (%#)', (text, problem) => {
    expect(readJsonText(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });
});

function deep(levels: number): unknown {
  let schema: unknown = {};
  for (let level = 0; level < levels; level++) schema = { items: schema };
  return schema;
}
