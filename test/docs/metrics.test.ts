import { expect, test } from '@jest/globals';
import { scrapeAll } from '../support/scrape.js';
import { codeNames, read, section, tableRows } from './pages.js';

// Every metric of /metrics has a row on the page of operations, with its labels and no others.

const part = section(read('docs/operations.md'), '## Health and metrics');
const rows = tableRows(part).filter((cells) => cells.length === 4);

test('metrics and their labels are those of the page', async () => {
  const text = await scrapeAll();
  const names = [...text.matchAll(/^# TYPE ratchet_(\w+) /gm)].map(([, name]) => name!);
  const labelsOf = (name: string) => {
    const series = [...text.matchAll(new RegExp(`^ratchet_${name}(?:_bucket|_sum|_count)?\\{([^}]*)\\}`, 'gm'))];
    const labels = series.flatMap(([, pairs]) => [...pairs!.matchAll(/(\w+)="/g)].map(([, label]) => label!));
    return [...new Set(labels)].filter((label) => label !== 'le').sort();
  };
  const documented = Object.fromEntries(
    rows.flatMap(([cell, labels]) =>
      codeNames(cell!).map((name) => [name, labels === '' ? [] : codeNames(labels!).sort()]),
    ),
  );
  expect(documented).toEqual(Object.fromEntries(names.map((name) => [name, labelsOf(name)])));
});

test('the values of labels are on the page', async () => {
  const outcomes = [...(await scrapeAll()).matchAll(/model_calls_total\{.*outcome="(\w+)"/g)].map(
    ([, value]) => value!,
  );
  const values = tableRows(part).find(([label]) => label === '`outcome` of model calls')?.[1] ?? '';
  expect(codeNames(values).sort()).toEqual([...new Set(outcomes)].sort());
});
