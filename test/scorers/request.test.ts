import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { judgesOf, needsExpected, scorerSchema } from '../../src/scorers/index.js';
import { specOf as spec } from '../support/scoring.js';

const faults = (request: unknown) =>
  z
    .strictObject({ scorer: scorerSchema })
    .safeParse({ scorer: request })
    .error?.issues.map(({ path, message }) => [path.join('.'), message]) ?? [];
const fields = (request: unknown) => faults(request).map(([path]) => path);

test('the stored form has all defaults', () => {
  expect(spec('exact')).toEqual({ type: 'exact', caseSensitive: false });
  expect(spec({ type: 'numeric' })).toEqual({ type: 'numeric', tolerance: 1e-6, relative: true });
  expect(spec('regex')).toEqual({ type: 'regex', pattern: null, flags: '' });
  expect(spec('similarity')).toEqual({ type: 'similarity', metric: 'token_f1' });
  expect(spec({ type: 'json', fields: ['a'] })).toEqual({
    type: 'json',
    caseSensitive: false,
    fields: { a: 1 },
    schema: null,
  });
  expect(spec({ type: 'http', url: 'http://x' })).toEqual({ type: 'http', url: 'http://x', timeoutS: null });
  expect(spec({ type: 'rubric', criteria: 'good', model: 'm' })).toEqual({
    type: 'rubric',
    rubric: 'good',
    judge: { model: 'm', provider: 'openai', params: {} },
  });
  expect(spec({ type: 'weighted', parts: [{ scorer: 'exact' }, { weight: 2, scorer: { type: 'contains' } }] })).toEqual(
    {
      type: 'weighted',
      parts: [
        { weight: 1, scorer: { type: 'exact', caseSensitive: false } },
        { weight: 2, scorer: { type: 'contains', caseSensitive: false } },
      ],
    },
  );
});

test('only comparisons need an expected value', () => {
  expect(
    ['exact', 'contains', 'numeric', 'json', 'similarity', 'regex'].map((type) => needsExpected(spec(type))),
  ).toEqual(Array.from({ length: 6 }, () => true));
  const free = [
    { type: 'regex', pattern: 'a' },
    { type: 'json', schema: {} },
    { type: 'rubric', criteria: 'good', model: 'm' },
    { type: 'javascript', code: '() => 1' },
    { type: 'http', url: 'http://x' },
  ];
  expect(free.map((request) => needsExpected(spec(request)))).toEqual(free.map(() => false));
  const parts = free.map((scorer) => ({ scorer }));
  expect(needsExpected(spec({ type: 'weighted', parts }))).toBe(false);
  expect(needsExpected(spec({ type: 'weighted', parts: [...parts, { scorer: 'exact' }] }))).toBe(true);
});

test('judges are in the order of the parts', () => {
  const judge = (model: string) => ({ scorer: { type: 'rubric', criteria: 'good', model, provider: 'groq' } });
  const judges = judgesOf(spec({ type: 'weighted', parts: [judge('a'), { scorer: 'exact' }, judge('b')] }));
  expect(judges.map(({ model, provider }) => `${provider}/${model}`)).toEqual(['groq/a', 'groq/b']);
  expect(judgesOf(spec('exact'))).toEqual([]);
});

describe('faults name their field', () => {
  test.each<[unknown, string[]]>([
    ['exat', ['scorer']],
    [7, ['scorer']],
    [undefined, ['scorer']],
    [{ type: 'exat' }, ['scorer.type']],
    [{}, ['scorer.type']],
    ['http', ['scorer.url']],
    ['rubric', ['scorer.criteria', 'scorer.model']],
    [{ type: 'exact', tolerance: 1 }, ['scorer.tolerance']],
    [{ type: 'regex', pattern: '(' }, ['scorer.pattern']],
    [{ type: 'regex', flags: 'g' }, ['scorer.flags']],
    [{ type: 'regex', flags: 'ii' }, ['scorer.flags']],
    [{ type: 'similarity', metric: 'rouge' }, ['scorer.metric']],
    [{ type: 'rubric', criteria: { criteria: [] }, model: 'm' }, ['scorer.criteria.criteria']],
    [{ type: 'weighted', parts: [] }, ['scorer.parts']],
    [{ type: 'weighted', parts: [{ weight: 0, scorer: 'exact' }] }, ['scorer.parts.0.weight']],
    [
      { type: 'weighted', parts: [{ scorer: { type: 'numeric', tolerance: -1 } }] },
      ['scorer.parts.0.scorer.tolerance'],
    ],
    [{ type: 'weighted', parts: [{ scorer: { type: 'weighted', parts: [] } }] }, ['scorer.parts.0.scorer.type']],
    [{ type: 'weighted', parts: [{ scorer: 'exact', wieght: 1 }] }, ['scorer.parts.0.wieght']],
  ])('%j: %j', (request, expected) => {
    expect(fields(request)).toEqual(expected);
  });

  test('an unknown field names the one that was meant', () => {
    expect(faults({ type: 'exact', case_sensitiv: true })).toEqual([
      ['scorer.case_sensitiv', 'unknown field; did you mean `case_sensitive`?'],
    ]);
    expect(faults(undefined)).toEqual([['scorer', 'is required']]);
  });
});

describe('schemas that are refused', () => {
  const recursive = { $ref: '#/$defs/a', $defs: { a: { properties: { next: { $ref: '#/$defs/a' } } } } };
  const laughs = Object.fromEntries(
    Array.from({ length: 30 }, (_item, at) => [
      `d${at + 1}`,
      { allOf: [{ $ref: `#/$defs/d${at}` }, { $ref: `#/$defs/d${at}` }] },
    ]),
  );
  test.each<[string, Record<string, unknown>]>([
    ['unknown type', { type: 'text' }],
    ['keyword', { properties: { a: { minimum: 'x' } } }],
    ['required', { required: 'a' }],
    ['reference', { $ref: '#/$defs/none' }],
    ['reference elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['recursion', recursive],
    ['recursion at the root', { $ref: '#' }],
    ['growth', { $ref: '#/$defs/d30', $defs: { d0: {}, ...laughs } }],
    ['pattern', { pattern: '(?=a)' }],
    ['pattern of properties', { patternProperties: { '(?=a)': {} } }],
    ['large pattern', { items: { pattern: 'a{600}' }, contains: { pattern: 'a{600}' } }],
    ['base', { $id: 'https://example.com', type: 'object' }],
  ])('%s', (_what, schema) => {
    expect(fields({ type: 'json', schema })).toEqual(['scorer.schema']);
  });

  test('each of two patterns alone is small enough', () => {
    expect(fields({ type: 'json', schema: { items: { pattern: 'a{600}' } } })).toEqual([]);
  });

  const parts = (count: number, scorer: (n: number) => object) => ({
    type: 'weighted',
    parts: Array.from({ length: count }, (_, n) => ({ scorer: scorer(n) })),
  });
  const schema = (n: number) => ({
    type: 'json',
    schema: { title: String(n), properties: Object.fromEntries(Array.from({ length: 180 }, (_, at) => [at, {}])) },
  });
  test.each<[string, (n: number) => object, number]>([
    ['schemas', schema, 5],
    ['patterns', (n) => ({ type: 'regex', pattern: `x{0,495}${n}` }), 10],
    ['classes', (n) => ({ type: 'regex', pattern: `${'\\pL'.repeat(29)}${n}` }), 8],
  ])('the parts of a scorer have %s of a size in all, whatever their number', (_name, scorer, most) => {
    expect(faults(parts(most, scorer))).toEqual([]);
    for (const count of [40, 10_000])
      expect(faults(parts(count, scorer))).toEqual([['scorer.parts', expect.any(String)]]);
  });

  test('draft 7 with definitions is accepted', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { a: { type: 'string' } },
      properties: { a: { $ref: '#/definitions/a' } },
    };
    expect(fields({ type: 'json', schema })).toEqual([]);
  });
});

test('the schema of the OpenAPI document has all forms', () => {
  const described = JSON.stringify(z.toJSONSchema(scorerSchema, { io: 'input' }));
  for (const form of ['Exact', 'Weighted', 'Javascript'])
    expect(described).toContain(`"#/components/schemas/${form}ScorerInput"`);
});
