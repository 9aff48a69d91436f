import { expect, test } from '@jest/globals';
import { compileSchema, schemaProblem } from '../../src/util/json-schema.js';
import { heldMs, maxHeldMs } from '../support/held.js';

const refused: [name: string, schema: Record<string, unknown>][] = [
  ['$async', { $async: true, type: 'object', maxProperties: 0 }],
  ['$async', { properties: { a: { $async: true } } }],
  ['$async', { $ref: '#/$defs/a', $defs: { a: { $async: true } } }],
  ['$async', { anyOf: [{ patternProperties: { a: { not: { $async: true } } } }] }],
  ['$id', { $id: 'a' }],
  ['$anchor', { items: { $anchor: 'a' } }],
  ['$dynamicRef', { $dynamicRef: '#a' }],
  ['$dynamicAnchor', { $dynamicAnchor: 'a' }],
  ['$recursiveRef', { $recursiveRef: '#' }],
  ['$vocabulary', { $vocabulary: {} }],
  ['$data', { minimum: 1, $data: '1/a' }],
  ['id', { id: 'a' }],
  ['nullable', { type: 'string', nullable: true }],
  ['discriminator', { discriminator: { propertyName: 'a' }, oneOf: [] }],
  ['dependencies', { dependencies: { a: ['b'] } }],
  ['x-mine', { 'x-mine': 1 }],
  ['constructor', { constructor: {} }],
  ['__proto__', JSON.parse('{"__proto__":{"$async":true}}') as Record<string, unknown>],
];

test.each(refused)('the keyword %s is refused by its name', (name, schema) => {
  expect(schemaProblem(schema)).toContain(JSON.stringify(name));
});

test('names of properties and values are no keywords', () => {
  const names = { $async: { type: 'string' }, $id: true, nullable: {}, unknown: {}, pattern: {} };
  const schema = { properties: names, required: ['$async'], const: { $async: true }, default: { $id: 1 }, title: 'A' };
  expect(schemaProblem(schema)).toBeNull();
  expect(schemaProblem({ dependentSchemas: names, $defs: names, enum: [{ $anchor: 1 }] })).toBeNull();
});

test('items of a list are unique by their values', () => {
  const unique = compileSchema({ properties: { a: { uniqueItems: true } } });
  expect(unique.field('a', [1, '1', { a: 1, b: 2 }, [1], null])).toBeNull();
  expect(
    unique.field('a', [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ]),
  ).not.toBeNull();
  expect(unique.field('a', 'no list')).toBeNull();
  expect(compileSchema({ properties: { b: { uniqueItems: false } } }).field('b', [1, 1])).toBeNull();
});

test.each([
  ['objects', (n: number) => ({ n })],
  ['lists', (n: number) => [n]],
  ['texts', (n: number) => `item ${n}`],
])('many %s are compared in linear time', async (_name, item) => {
  const unique = compileSchema({ properties: { a: { uniqueItems: true } } });
  const items = Array.from({ length: 100_000 }, (_, n) => item(n));
  expect(await heldMs(() => expect(unique.field('a', items)).toBeNull())).toBeLessThan(maxHeldMs);
});

test('a list of many levels is checked', () => {
  const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) as unknown;
  expect(compileSchema({ properties: { a: { uniqueItems: true } } }).field('a', [deep, 1])).toBeNull();
});

test.each<[string, (n: number) => string]>([
  ['repetitions', (n) => `x{0,500}${n}`],
  ['classes', (n) => `${'\\pL'.repeat(29)}${n}`],
  ['repetitions above the limit', (n) => `${'x{0,1000}'.repeat(99)}${n}`],
])('a schema with many patterns of %s is refused in time', async (_name, pattern) => {
  let tries = 0;
  const held = await heldMs(() => {
    tries += 1;
    const names = Array.from({ length: 300 }, (_, n) => pattern(1_000 * tries + n));
    const patterns = Object.fromEntries(names.map((name) => [name, true]));
    expect(schemaProblem({ patternProperties: patterns })).not.toBeNull();
    expect(schemaProblem({ allOf: names.map((name) => ({ pattern: name })) })).not.toBeNull();
  });
  expect(held).toBeLessThan(maxHeldMs);
});

const nested = (keyword: string, depth: number, innermost: Record<string, unknown> = { type: 'string' }) =>
  Array.from({ length: depth }).reduce<Record<string, unknown>>(
    (inner) => ({ [keyword]: keyword.endsWith('Of') || keyword === 'prefixItems' ? [inner] : inner }),
    innermost,
  );

test.each(['items', 'contains', 'propertyNames', 'not', 'additionalProperties', 'if', 'oneOf', 'allOf', 'prefixItems'])(
  '%s nests 32 schemas and no more, also through references',
  (keyword) => {
    expect(schemaProblem(nested(keyword, 32))).toBeNull();
    expect(schemaProblem(nested(keyword, 33))).toContain('32 schemas');
    const inner = { $ref: '#/$defs/a' };
    const through = { $defs: { a: nested(keyword, 20) }, ...nested(keyword, 20, inner) };
    expect(schemaProblem(through)).toContain('32 schemas');
  },
);

test('a choice of 100 is compiled, of 150 refused: each nests in the one before', () => {
  const choice = (count: number) => ({ oneOf: Array.from({ length: count }, (_, n) => ({ const: n })) });
  expect(schemaProblem(choice(100))).toBeNull();
  expect(schemaProblem(choice(150))).toContain('1000 values');
});

test('schemas share what compiles them, but not their results', () => {
  const texts = Array.from({ length: 50 }, (_, n) =>
    compileSchema({ type: 'object', properties: { a: { const: n } } }),
  );
  texts.forEach((schema, n) => {
    expect([schema.field('a', n), schema.field('a', n + 1)]).toEqual([null, expect.any(String)]);
  });
});
