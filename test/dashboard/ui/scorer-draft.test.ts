import { expect, test } from '@jest/globals';
import type { FormField } from '../../../src/scorers/form.js';
import { scorerForms } from '../../../src/scorers/forms.js';
import { scorerSchema } from '../../../src/scorers/index.js';
import { scorerOf, scorerProblems } from '../../../dashboard/src/ui/scorer/draft.js';

/** Fields whose text has a form. */
const texts: Record<string, string> = { flags: 'i', parts: '[{"weight": 2, "scorer": "exact"}]' };

function filled(field: FormField): string | boolean {
  if (field.kind === 'check') return true;
  if (field.kind === 'choice') return field.choices.at(-1)!;
  const byKind = { text: 'a', area: 'a', number: '10', list: 'total, currency', value: '{"type": "object"}' };
  return texts[field.name] ?? byKind[field.kind];
}

test.each(Object.entries(scorerForms))('%s is accepted by the API with all of its fields', (type, { fields }) => {
  const draft = { type, values: Object.fromEntries(fields.map((field) => [field.name, filled(field)])) };
  expect(scorerProblems(draft)).toEqual({});
  const request = scorerOf(draft);
  expect(Object.keys(request)).toEqual(['type', ...fields.map(({ name }) => name)]);
  expect(scorerSchema.safeParse(request).error?.issues ?? []).toEqual([]);
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
