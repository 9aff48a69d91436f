import { expect, test } from '@jest/globals';
import { scorerSchema } from '../../../src/contracts/scoring/scorer.js';
import { scorerKinds, scorerOf, scorerProblems } from '../../../dashboard/src/ui/scorer/kinds.js';

/** Each field of each kind with a value. */
const full: Record<string, Record<string, string | boolean>> = {
  exact: { case_sensitive: true },
  contains: { case_sensitive: true },
  numeric: { tolerance: '0.5', relative: true },
  regex: { pattern: '^a', flags: 'i' },
  json: { fields: 'total, currency', schema: '{"type": "object"}', case_sensitive: true },
  similarity: { metric: 'rouge_l' },
  rubric: { criteria: '- correct (3): it is right', model: 'gpt-4o-mini', provider: 'openai' },
  javascript: { code: '() => 1' },
  http: { url: 'https://scorer.example.com/', timeout: '10' },
  weighted: { parts: '[{"weight": 2, "scorer": "exact"}]' },
};

test.each(Object.keys(scorerKinds))('%s is accepted by the API with all of its fields', (type) => {
  const draft = { type, values: full[type]! };
  expect(Object.keys(draft.values)).toEqual(scorerKinds[type]!.fields.map(({ name }) => name));
  expect(scorerProblems(draft)).toEqual({});
  const read = scorerSchema.safeParse(scorerOf(draft));
  expect(read.error?.issues ?? []).toEqual([]);
});

test('a scorer without fields is its name', () => {
  expect(scorerOf({ type: 'exact', values: { case_sensitive: false } })).toBe('exact');
  expect(scorerOf({ type: 'numeric', values: { relative: true } })).toEqual({ type: 'numeric', relative: false });
});

test('faulty fields are named', () => {
  expect(Object.keys(scorerProblems({ type: 'rubric', values: { model: ' ' } }))).toEqual(['criteria', 'model']);
  expect(Object.keys(scorerProblems({ type: 'numeric', values: { tolerance: 'a' } }))).toEqual(['tolerance']);
  expect(Object.keys(scorerProblems({ type: 'json', values: { schema: '{' } }))).toEqual(['schema']);
});
