/** Files of rows in the forms that people have: each is read as meant, or refused by its form. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { readRows, type Format } from '../../../src/datasets/routes/rows.js';

async function read(format: Format, file: string | Buffer, chunk = Infinity) {
  const bytes = Buffer.from(file);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    await Promise.resolve();
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  }
  const rows: unknown[] = [];
  const faults: { line: number; fault: string }[] = [];
  for await (const row of readRows(format, chunks())) {
    if ('value' in row) rows.push(row.value);
    else faults.push(row);
  }
  return { rows, faults };
}

const two = [
  { input: 'a', expected: 'b' },
  { input: 'c', expected: 'd' },
];
const list = JSON.stringify(two);

describe.each([Infinity, 1])('in pieces of %d bytes', (chunk) => {
  test.each<[string, Format, string]>([
    ['pipes', 'csv', 'input|expected\na|b\nc|d\n'],
    ['a noted delimiter', 'csv', 'sep=;\r\ninput;expected\r\na;b\r\nc;d\r\n'],
    ['a noted delimiter behind a byte order mark', 'csv', '\ufeffsep=,\r\ninput,expected\r\na,b\r\nc,d\r\n'],
    ['a noted tab', 'csv', 'sep=\t\ninput\texpected\na\tb\nc\td\n'],
    ['white space around names', 'csv', ' input , expected \na,b\nc,d\n'],
    ['delimiters at the ends of lines', 'csv', 'input,expected,\na,b,\nc,d,\n'],
    ['a delimiter at the end of the header', 'csv', 'input,expected,,\na,b\nc,d\n'],
    ['delimiters at the ends of rows', 'csv', 'input,expected\na,b,,\nc,d,\n'],
    ['rows of delimiters', 'csv', 'input,expected\na,b\n,\n,\nc,d\n ,\n'],
    ['ends of lines of two systems', 'csv', 'input,expected\r\na,b\nc,d\r\n'],
    ['carriage returns', 'csv', 'input,expected\ra,b\rc,d\r'],
    ['quoted names', 'csv', '"input";"expected"\r\n"a";"b"\r\n"c";"d"\r\n'],
    ['a list in a .jsonl', 'jsonl', list],
    ['a list over several lines in a .jsonl', 'jsonl', `\n${JSON.stringify(two, null, 2)}\n`],
    ['a list under a name', 'json', `{"data": ${list}}`],
    ['a list under a name on one line of a .jsonl', 'jsonl', `{"version": "1.1", "data": ${list}}\n`],
    ['a list under a name among others', 'json', `{"features": [{"name": "]"}],\n "rows": ${list},\n "n": [1]}`],
    [
      'a list behind nested names',
      'json',
      JSON.stringify({ about: { rows: [{ x: 1 }] }, 'data"': [], examples: two }, null, 1),
    ],
    ['one row', 'json', JSON.stringify(two[0]) + '\n' + JSON.stringify(two[1])],
  ])('reads %s', async (_, format, file) => {
    expect(await read(format, file, chunk)).toEqual({ rows: two, faults: [] });
  });

  test.each<[string, string, object]>([
    [
      'a comma in a header of semicolons',
      'input;expected, the label\na;b\n',
      { input: 'a', 'expected, the label': 'b' },
    ],
    ['a comma in a header of tabs', 'the input, raw\texpected\na, b\tc\n', { 'the input, raw': 'a, b', expected: 'c' }],
    ['decimal commas', 'input;expected\n1,5;"2,5"\n', { input: '1,5', expected: '2,5' }],
    ['a semicolon in a header of commas', 'input;raw,expected\na,b\n', { 'input;raw': 'a', expected: 'b' }],
    ['pipes within values', 'input,a|b\nx|y,z\n', { input: 'x|y', 'a|b': 'z' }],
    ['a line break within a value', 'input,expected\r\n"a\r\nb",c\r\n', { input: 'a\r\nb', expected: 'c' }],
    ['one column', 'input\na|b;c\n', { input: 'a|b;c' }],
    ['a name over several lines', '"in\nput",expected\na,b\n', { 'in\nput': 'a', expected: 'b' }],
    ['an index of pandas', ',input,expected\n0,a,b\n', { 'column 1': '0', input: 'a', expected: 'b' }],
    ['a name that is missing', 'input;;expected\na;;b\n', { input: 'a', 'column 2': '', expected: 'b' }],
    ['an unnamed blank column', 'input,expected,\na,b\n', { input: 'a', expected: 'b' }],
  ])('reads %s', async (_, file, row) => {
    expect(await read('csv', file, chunk)).toEqual({ rows: [row], faults: [] });
  });
});

describe('refuses by what it is', () => {
  const utf32 = Buffer.from('fffe00006900000061000000', 'hex');
  test.each<[string, Format, string | Buffer, RegExp]>([
    ['a workbook', 'csv', Buffer.from('PK\x03\x04\x14\0\x06\0xxxx', 'latin1'), /Excel/],
    ['an old workbook', 'csv', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /Excel/],
    ['gzip', 'jsonl', gzipSync(list), /gzip/],
    ['Parquet', 'jsonl', Buffer.from('PAR1\x15\x04\x15\x20', 'latin1'), /binary/],
    ['a PDF', 'csv', '%PDF-1.4\n', /PDF/],
    ['a page', 'csv', '<!DOCTYPE html><html></html>', /HTML/],
    ['a pointer', 'csv', 'version https://git-lfs.github.com/spec/v1\noid sha256:a\n', /git lfs pull/],
    ['UTF-32', 'csv', utf32, /UTF-32/],
    ['an object of lists', 'json', '{"input": ["a", "b"], "expected": ["c", "d"]}', /"input", "expected"/],
    ['an object of objects', 'json', '{"input": {"0": "a"},\n "expected": {"0": "b"}}', /orient="records"/],
    ['two lists', 'json', `{"data": ${list}, "rows": ${list}}`, /several lists/],
    ['objects over several lines', 'json', '{\n "input": "a"\n}\n{\n "input": "b"\n}', /line 4/],
    ['a list that is cut off', 'json', '{"data": [{"input": "a"}', /in the middle/],
    ['Python', 'json', "[{'input': 'a'}]", /JSON/],
  ])('%s', async (_, format, file, message) => {
    const { faults } = await read(format, file);
    expect(faults.map(({ fault }) => fault)).toEqual([expect.stringMatching(message)]);
  });

  test.each<[string, Format, string, number[]]>([
    ['a value without a name', 'csv', 'input,expected,\na,b,c\nc,d,\n', [2]],
    ['a value too few', 'csv', 'input,expected\na\n', [2]],
    ['a long name', 'csv', `${'x'.repeat(201)},b\na,b\na,b\n`, [1]],
    ['names that differ by white space alone', 'csv', 'input, input\na,b\n', [1]],
    ['rows that are no JSON', 'jsonl', '{"a": 1}\n{"a": NaN}\n{"a": 2},\n', [2, 3]],
  ])('%s, by its line', async (_, format, file, lines) => {
    expect((await read(format, file)).faults.map(({ line }) => line)).toEqual(lines);
  });

  test('a row of a list by its number', async () => {
    const { faults } = await read('json', '[{"id": 1}, {"id": 1234567890123456789}]');
    expect(faults).toEqual([{ line: 1, fault: expect.stringMatching(/ \(row 1 of the list\)$/) }]);
  });
});

test('a line is a row where lines are promised, and no list of rows in a .json', async () => {
  const row = { messages: [{ role: 'user', content: 'a' }] };
  expect((await read('jsonl', JSON.stringify(row))).rows).toEqual([row]);
  expect((await read('json', JSON.stringify(row))).faults).toEqual([
    { line: 0, fault: expect.stringMatching(/"messages"/) },
  ]);
});

test('rows are the same for every delimiter, end of line and size of pieces', async () => {
  const cell = fc.stringMatching(/^[a-z,;|\t" é\n]{0,8}$/).filter((text) => text.trim() !== '');
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 6 }),
      fc.constantFrom(',', ';', '\t', '|'),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.integer({ min: 1, max: 40 }),
      async (rows, delimiter, end, size) => {
        const lines = [['x', 'y', 'z'], ...rows.map((row) => row.map(quote))].map((row) => row.join(delimiter));
        const { rows: found, faults } = await read('csv', `${lines.join(end)}${end}`, size);
        expect(faults).toEqual([]);
        expect(found).toEqual(rows.map(([x, y, z]) => ({ x, y, z })));
      },
    ),
  );
});
