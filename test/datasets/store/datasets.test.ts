import { expect, test } from '@jest/globals';
import { comparableJson, wordsOfJson } from '../../../src/core/prompts/comparable-json.js';
import { digestRows, groupRows, putDataset } from '../../../src/datasets/store/datasets.js';
import { databaseOfFile } from '../../support/database-of-file.js';

const db = databaseOfFile(1);

test('rows are grouped so that few bytes of a column are read at a time', async () => {
  const sizes = [10, 50, 30, 200, 2, null, 90];
  const lines = sizes.map((size) =>
    JSON.stringify({ other: 'x'.repeat(500), ...(size && { v: 'v'.repeat(size - 2) }) }),
  );
  const dataset = { id: 'ds_grouped', numRows: lines.length, columns: [], bytes: 0 };
  const group = (rows: number[]) => db.org('default', (tx) => groupRows(tx, dataset.id, 'v', rows, 100));
  await db.org('default', (tx) => putDataset(tx, 'default', dataset, [lines]));
  expect(await group([0, 1, 2, 3, 4, 5, 6])).toEqual([[0, 1, 2], [3], [4, 5, 6]]);
  expect(await group([6, 1, 99])).toEqual([[1], [6]]);
  expect(await group([99])).toEqual([]);
});

test('Postgres compares values and words as this process does', async () => {
  const values = [
    'My card',
    ' my\tcard! ',
    'My\n card',
    // The same letters as one code point and as two, and in full width.
    'caf\u00e9',
    'cafe\u0301',
    'ｃard 1',
    'card 1',
    'say "no"',
    "say 'no'",
    'a\\nb',
    'a b',
    '`x` {y} [z]',
    'x y z',
    '1.5',
    '15',
    '-5',
    '5',
    ['a', { b: 'C' }],
    ['a', { b: 'c' }],
    7,
    null,
  ];
  const lines = values.map((v) => JSON.stringify({ v }));
  const dataset = { id: 'ds_compared', numRows: lines.length, columns: [], bytes: 0 };
  await db.org('default', (tx) => putDataset(tx, 'default', dataset, [lines]));
  // Which of the values before it each one equals.
  const classes = (texts: readonly string[]) => texts.map((text) => texts.indexOf(text));
  for (const [compared, textOf] of [
    ['value', comparableJson],
    ['words', wordsOfJson],
  ] as const) {
    const digests = await db.org('default', (tx) => digestRows(tx, dataset.id, 'v', compared));
    expect(classes(digests)).toEqual(classes(values.map((value) => textOf(JSON.stringify(value)))));
  }
  const equal = classes(values.map((value) => comparableJson(JSON.stringify(value))));
  expect([equal[2], equal[4], equal[6]]).toEqual([0, 3, 6]);
  const similar = classes(values.map((value) => wordsOfJson(JSON.stringify(value))));
  expect([similar[1], similar[6], similar[12], similar[14], similar[16]]).toEqual([0, 5, 11, 14, 15 + 1]);
});
