import { expect, test } from '@jest/globals';
import { groupRows, putDataset } from '../../../src/datasets/store/datasets.js';
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
