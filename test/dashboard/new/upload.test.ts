import { expect, test } from '@jest/globals';
import { readableFile } from '../../../dashboard/src/pages/new/form/upload.js';

const latin = Buffer.from('text;label\nZürich;à\n', 'latin1');

test.each<[string, string | Buffer, string | undefined]>([
  ['rows.csv', 'a,b\n1,2', 'text/csv'],
  ['rows.TSV', 'a\tb\n', 'text/csv'],
  ['rows.jsonl', '{"a":1}', undefined],
  ['rows.txt', '\ufeff{"a":1}\n{"a":2}', 'application/jsonl'],
  ['rows.jsonl.txt', ' [{"a":1}]', 'application/json'],
  ['rows.dat', 'a,b\n1,2', 'text/csv'],
  ['rows', 'a,b\n1,2', 'text/csv'],
])('the form of %s', async (name, content, type) => {
  const read = await readableFile(new File([content], name));
  expect([read.type, read.note]).toEqual([type, null]);
  expect(Buffer.from(await read.file.arrayBuffer())).toEqual(Buffer.from(content));
});

test('the encoding of older Excel is read, also in a .txt, and binary files stay what they are', async () => {
  for (const name of ['latin.csv', 'latin.txt']) {
    const { file, type, note } = await readableFile(new File([latin], name));
    expect([type, await file.text()]).toEqual(['text/csv', 'text;label\nZürich;à\n']);
    expect(note).not.toBeNull();
  }
  const gzip = Buffer.from('1f8b0800000000000003', 'hex');
  const { file, note } = await readableFile(new File([gzip], 'rows.csv.gz'));
  expect([note, Buffer.from(await file.arrayBuffer())]).toEqual([null, gzip]);
  await expect(readableFile(new File(['PK'], 'rows.XLSX'))).rejects.toThrow('CSV UTF-8');
});
