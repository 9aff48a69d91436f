import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readJson, schemaProblems, valueProblem, type JsonSchema } from '../../../src/core/graphs/json-schema.js';
import type { Json } from '../../../src/core/graphs/values.js';

describe('a schema', () => {
  test.each<[unknown, string, string]>([
    ['x', 's', 'must be a JSON Schema (an object), not the text "x"'],
    [{ type: 'text' }, 's.type', 'must be one of object, array'],
    [{ type: [] }, 's.type', 'must be one of object, array'],
    [{ type: ['string', 'date'] }, 's.type', 'must be one of object, array'],
    [{ properties: [] }, 's.properties', 'must be an object of schemas'],
    [{ properties: { a: 1 } }, 's.properties.a', 'must be a JSON Schema (an object), not the number 1'],
    [{ items: { minimum: 1 } }, 's.items.minimum', 'is not supported; use type'],
    [{ $ref: '#' }, 's.$ref', 'is not supported; use type'],
    [{ pattern: '(a+)+' }, 's.pattern', 'is not supported; use type'],
    [{ required: 'a' }, 's.required', 'must be a list of names'],
    [{ required: [1] }, 's.required', 'must be a list of names'],
    [{ enum: [] }, 's.enum', 'must be a list of at least one value'],
    [{ additionalProperties: {} }, 's.additionalProperties', 'must be true or false'],
    [{ description: 1 }, 's.description', 'must be a text'],
    [{ description: 'a\0' }, 's', 'has a NUL character'],
    [{ properties: { 'a\0': {} } }, 's', 'has a NUL character'],
    [{ enum: ['a\0'] }, 's', 'has a NUL character'],
    [{ description: 'x'.repeat(20_001) }, 's', 'is larger than 20000 characters'],
    [deep(12), `s${'.items'.repeat(11)}`, 'is nested deeper than 10 levels'],
    [deep(60), 's', 'is nested deeper than 50 levels'],
  ])('%j is refused', (schema, path, message) => {
    expect(schemaProblems(schema, 's')).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  test('of the supported keywords is taken, and everything that is wrong is told', () => {
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

describe('a value', () => {
  test('of many items is checked by a look at each word of the schema, not one for each item', () => {
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

  test('of many items is checked by each type and name once, however often the schema says it', () => {
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
    [{ type: 'object' }, [], 'the answer must be of type object, and is a list of 0'],
    [{ type: 'object' }, null, 'the answer must be of type object, and is null'],
    [{ type: 'array' }, {}, 'the answer must be of type array, and is an object with nothing in it'],
    [{ type: 'string' }, 'x', null],
    [{ type: 'string' }, 1, 'the answer must be of type string, and is the number 1'],
    [{ type: 'number' }, 1.5, null],
    [{ type: 'number' }, '1', 'the answer must be of type number, and is the text "1"'],
    [{ type: 'integer' }, 2, null],
    [{ type: 'integer' }, 1.5, 'the answer must be of type integer, and is the number 1.5'],
    [{ type: 'boolean' }, false, null],
    [{ type: 'boolean' }, 0, 'the answer must be of type boolean, and is the number 0'],
    [{ type: 'null' }, null, null],
    [{ type: 'null' }, false, 'the answer must be of type null, and is false'],
    [{ type: ['string', 'null'] }, null, null],
    [{ type: ['string', 'null'] }, true, 'the answer must be of type string or null, and is true'],
    [{ enum: ['a', { k: 1 }] }, { k: 1 }, null],
    [{ enum: ['a', 1] }, 'A', 'the answer must be one of "a", 1, and is the text "A"'],
    [{ required: ['a'] }, { a: null }, null],
    [{ required: ['a', 'b'] }, { a: 1 }, 'the answer lacks "b"'],
    [{ required: ['toString'] }, {}, 'the answer lacks "toString"'],
    [{ required: ['a'] }, 'not an object', null],
    [{ properties: { a: { type: 'string' } } }, { a: 1 }, 'a must be of type string, and is the number 1'],
    [{ properties: { a: { type: 'string' } } }, { b: 1 }, null],
    [{ properties: { a: {} }, additionalProperties: false }, { a: 1, b: 2 }, 'the answer must not have "b"'],
    [{ additionalProperties: false }, { constructor: 1 }, 'the answer must not have "constructor"'],
    [
      { properties: { a: { items: { properties: { k: { type: 'null' } } } } } },
      { a: [{}, { k: 1 }] },
      'a[1].k must be of type null, and is the number 1',
    ],
    [{ items: { type: 'string' } }, ['x', 2], '[1] must be of type string, and is the number 2'],
  ])('%j: %j', (schema, value, problem) => {
    expect(valueProblem(schema, value)).toBe(problem);
  });
});

describe('an answer as JSON', () => {
  test.each<[string, Json]>([
    ['{"a": 1}', { a: 1 }],
    [' [1]\n', [1]],
    ['"x"', 'x'],
    ['```json\n{"a": 1}\n```', { a: 1 }],
    ['\n```\n[]\n```\n', []],
    ['```json\r\n{"a":\r\n1}\r\n```', { a: 1 }],
    ['```JSON\n"```"\n  ```', '```'],
  ])('%j', (text, value) => {
    expect(readJson(text)).toEqual({ ok: true, value });
  });

  test.each([
    ['', 'is not JSON: an empty text'],
    ['Here: {"a": 1}', 'is not JSON'],
    ['```json\n{"a": 1}', 'is not JSON'],
    ['```json\n{"a": 1}\n```\nThat is it.', 'is not JSON'],
    ['```\n```', 'is not JSON'],
    ['```', 'is not JSON'],
    ["{'a': 1}", 'is not JSON'],
    ['NaN', 'is not JSON'],
    ['['.repeat(100_000) + ']'.repeat(100_000), 'is nested deeper than 50 levels'],
    [JSON.stringify('x'.repeat(1_000_001)), 'is larger than 1000000 characters'],
  ])('that is none is refused (%#)', (text, problem) => {
    expect(readJson(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });

  test('any JSON is read, with a fence around it or not', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.boolean(), (value, isFenced) => {
        const text = JSON.stringify(value, null, 2);
        expect(readJson(isFenced ? `\`\`\`json\n${text}\n\`\`\`` : text)).toEqual({
          ok: true,
          value: JSON.parse(text),
        });
      }),
    );
  });
});

function deep(levels: number): unknown {
  let schema: unknown = {};
  for (let level = 0; level < levels; level++) schema = { items: schema };
  return schema;
}
