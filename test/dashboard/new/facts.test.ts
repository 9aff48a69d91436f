import { expect, test } from '@jest/globals';
import { dataWarnings, factsOf } from '../../../dashboard/src/pages/new/form/facts.js';

const columns = { input: 'text', expected: 'label' };

test('repeated and empty cells are counted, and labels by their rows', () => {
  const rows = [
    { text: 'a', label: 'x' },
    { text: 'a ', label: 'x' },
    { text: '', label: 'x' },
    { text: 'b', label: '' },
    { label: 'y' },
  ];
  const facts = factsOf(rows, columns);
  expect(facts).toMatchObject({ rows: 5, duplicates: 1, emptyInputs: 2, emptyExpected: 1 });
  expect(facts.labels).toEqual([
    { label: 'x', count: 3 },
    { label: 'y', count: 1 },
  ]);
  expect(dataWarnings(facts)).toHaveLength(3);
});

test('labels whose rows differ much are said, and even rows need no word', () => {
  const rows = (x: number, y: number) =>
    [...Array(x).fill('x'), ...Array(y).fill('y')].map((label: string, n) => ({ text: String(n), label }));
  expect(dataWarnings(factsOf(rows(9, 2), columns))).toEqual([]);
  expect(dataWarnings(factsOf(rows(10, 2), columns))).toHaveLength(1);
});
