import { expect, test } from '@jest/globals';
import { forms, splitForms, unscored } from '../../src/cli/task/promptfoo/assertions.js';
import { assertionFields, optionFields, testFields, topFields } from '../../src/cli/task/promptfoo/fields.js';
import { assertionTypes } from '../../src/cli/task/promptfoo/tests.js';
import { codeNames, read, section, tableRows } from './pages.js';

const page = read('docs/reference/promptfoo.md');

test('the table of assertions has those that the reader knows, each with its scorer', () => {
  const rows = tableRows(section(page, '## Assertions'));
  const scorers = new Map(rows.flatMap(([types, scorer]) => codeNames(types!).map((type) => [type, scorer!])));
  const known = new Set([forms, splitForms, unscored].flatMap((one) => Object.keys(one)));
  expect([...scorers.keys()].sort()).toEqual([...known].sort());
  for (const [type, scorer] of scorers) {
    expect(assertionTypes).toContain(type);
    const form = forms[splitForms[type] ?? type];
    const assertion = { type, not: false, value: 'x', weight: 1, judge: { provider: 'openai', model: 'm' }, code: 'x' };
    const used = form && (form.perRow(assertion) ?? form.perRow({ ...assertion, value: {} }));
    expect(scorer).toContain(used ? String(used.scorer['type']) : 'not scored');
  }
});

test('the table of fields is that of the reader', () => {
  const rows = tableRows(section(page, '## Fields')).map(([, ...cells]) => cells.map((cell) => codeNames(cell)));
  const known = [topFields, testFields, optionFields, assertionFields].map(
    ({ read: used, harmless, noted, refused }) => [used, harmless, Object.keys(noted), Object.keys(refused)],
  );
  expect(rows).toEqual(known);
});
