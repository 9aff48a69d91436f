import { expect, test } from '@jest/globals';
import { dataWarnings, factsOf } from '../../../dashboard/src/pages/new/form/facts.js';

const chosen = { input: 'text', expected: 'label' };
const columnsOf = (counts: Record<string, number>) => {
  const labels = Object.entries(counts).map(([label, count]) => ({ label, count }));
  return [
    { name: 'text', labels: [] },
    { name: 'label', labels },
  ];
};

test('repeated and empty cells are counted, and labels by their rows', () => {
  const rows = [
    { text: 'a', label: 'x' },
    { text: 'a ', label: 'x' },
    { text: '', label: 'x' },
    { text: 'b', label: '' },
    { label: 'y' },
  ];
  const facts = factsOf(rows, chosen, columnsOf({ x: 300, y: 100 }));
  expect(facts).toMatchObject({ rows: 5, duplicates: 1, emptyInputs: 2, emptyExpected: 1, valueAsName: null });
  // Of all rows, not of those that were read.
  expect(facts.labels).toEqual([
    { label: 'x', count: 300 },
    { label: 'y', count: 100 },
  ]);
  expect(dataWarnings(facts)).toHaveLength(3);
});

test('labels whose rows differ much are said, and even rows need no word', () => {
  const warnings = (x: number, y: number) => dataWarnings(factsOf([], chosen, columnsOf({ x, y })));
  expect(warnings(9, 2)).toEqual([]);
  expect(warnings(10, 2)).toHaveLength(1);
});

test('a first line that is a row is said', () => {
  const labels = [{ label: 'ham', count: 5 }];
  const facts = factsOf([], chosen, [{ name: 'ham', labels }]);
  expect(facts.valueAsName).toBe('ham');
  expect(dataWarnings(facts)).toHaveLength(1);
});
