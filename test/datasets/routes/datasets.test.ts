import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { uploadLimits } from '../../../src/datasets/contract/dataset.js';
import { httpOfFile } from '../../platform/http/support.js';

const base = '/api/v1/datasets';
const http = httpOfFile();
let url: string;
beforeAll(async () => void (url = await http.listen()));
const types = { json: 'application/json', jsonl: 'application/jsonl', csv: 'text/csv' };
const upload = (type: keyof typeof types, text: string, headers = {}) =>
  http.call('POST', base, text, { 'content-type': types[type], ...headers });
const uploadBytes = async (type: keyof typeof types, file: string | Buffer) => {
  const headers = { authorization: `Bearer ${http.key}`, 'content-type': types[type] };
  const answer = await http.app.inject({ method: 'POST', url: base, headers, payload: Buffer.from(file) });
  return { status: answer.statusCode, body: answer.json() };
};
const rowsOf = async (id: string, query = '') => (await http.call('GET', `${base}/${id}/rows?${query}`)).body;

const rows = [
  { text: 'Where is my card?', label: 'delivery' },
  { text: 'A "quoted", comma\nand line', label: 'cash' },
  { text: 'ümläut 🦎', label: 'cash' },
];
const files = {
  json: JSON.stringify(rows, null, 2),
  jsonl: rows.map((row) => JSON.stringify(row)).join('\n'),
  csv: 'text,label\nWhere is my card?,delivery\n"A ""quoted"", comma\nand line",cash\nümläut 🦎,cash\n',
};

describe.each(['json', 'jsonl', 'csv'] as const)('a file as %s', (type) => {
  test('is stored row by row, in its order', async () => {
    const { status, body } = await upload(type, files[type]);
    expect([200, 201]).toContain(status);
    expect(body).toMatchObject({
      num_rows: 3,
      columns: [
        { name: 'text', num_values: 3, num_distinct: 3, mean_chars: expect.any(Number), labels: [] },
        { name: 'label', num_values: 3, num_distinct: 2, mean_chars: expect.any(Number), labels: [] },
      ],
    });
    const page = await rowsOf(body.dataset_id);
    expect(page).toEqual({ data: rows.map((data, row) => ({ row, data })), next_cursor: null, has_more: false });
    expect((await http.call('GET', `${base}/${body.dataset_id}`)).body).toEqual(body);
  });
});

test('a name is no part of the rows: the first one stays, and PATCH replaces it', async () => {
  const lines = '{"text":"named","label":"x"}';
  const named = (name: string) => http.call('POST', `${base}?name=${name}`, lines, { 'content-type': types.jsonl });
  const { body } = await upload('jsonl', lines);
  expect(body).toMatchObject({ name: null, jobs: 0 });
  expect((await named('June.jsonl')).body).toMatchObject({ dataset_id: body.dataset_id, name: 'June.jsonl' });
  expect((await named('July.jsonl')).body.name).toBe('June.jsonl');
  const url = `${base}/${body.dataset_id}`;
  for (const name of ['May', null]) {
    expect(await http.call('PATCH', url, { name })).toMatchObject({ status: 200, body: { name } });
    expect((await http.call('GET', url)).body.name).toBe(name);
  }
  for (const wrong of [{}, { name: '' }, { name: 'a\nb' }, { name: 'a', rows: [] }])
    expect((await http.call('PATCH', url, wrong)).status).toBe(422);
});

test('the same rows are the same data set, whatever the format; others are not', async () => {
  const ids = await Promise.all((['json', 'jsonl', 'csv', 'jsonl'] as const).map((type) => upload(type, files[type])));
  expect(new Set(ids.map(({ body }) => body.dataset_id)).size).toBe(1);
  expect((await upload('jsonl', files.jsonl)).status).toBe(200);
  const other = await upload('jsonl', `${files.jsonl}\n{"text":"x","label":"y"}`);
  expect(other.status).toBe(201);
  expect(other.headers['location']).toBe(`${base}/${other.body.dataset_id}`);
  expect(other.body.dataset_id).not.toBe(ids[0]!.body.dataset_id);
});

describe('files as people have them', () => {
  const utf16 = (text: string, littleEndian = true) => {
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
    return littleEndian ? bytes : bytes.swap16();
  };
  test.each<[string, keyof typeof types, string | Buffer]>([
    ['UTF-8 with a byte order mark', 'csv', `\ufeff${files.csv}`],
    ['UTF-16 LE', 'csv', utf16(files.csv)],
    ['UTF-16 BE', 'jsonl', utf16(files.jsonl, false)],
    ['UTF-16 LE as JSON', 'json', utf16(files.json)],
    ['semicolons', 'csv', files.csv.replace('text,', 'text;').replace('?,', '?;').replaceAll(',cash', ';cash')],
    ['tabs', 'csv', files.csv.replace('text,', 'text\t').replace('?,', '?\t').replaceAll(',cash', '\tcash')],
    ['JSON lines in a .json', 'json', files.jsonl],
    ['line breaks of Windows', 'jsonl', files.jsonl.replaceAll('\n', '\r\n')],
  ])('%s are the same rows', async (_, type, text) => {
    const { body } = await uploadBytes(type, text);
    expect(body.dataset_id).toBe((await upload('jsonl', files.jsonl)).body.dataset_id);
  });

  test('a quote within a value is kept', async () => {
    const { body } = await upload('csv', 'size,label\n5" pipe,a\n"6"" pipe",b\n');
    expect((await rowsOf(body.dataset_id)).data.map(({ data }: { data: object }) => data)).toEqual([
      { size: '5" pipe', label: 'a' },
      { size: '6" pipe', label: 'b' },
    ]);
  });

  test.each<[string, keyof typeof types, string | Buffer, string]>([
    ['Windows-1252', 'csv', Buffer.from('text,label\na,b\ncaf\xe9,c\n', 'latin1'), '/line 3'],
    ['UTF-16 without a mark', 'csv', Buffer.from('text,label\na,b\n', 'utf16le'), ''],
    ['a long whole number', 'jsonl', '{"id":1}\n{"id":1234567890123456789}\n', '/line 2'],
    ['a long decimal', 'json', '[{"id":3.14159265358979323846}]', '/line 1'],
  ])('%s is refused once, by its line', async (_, type, text, pointer) => {
    const { status, body } = await uploadBytes(type, text);
    expect([status, body.code]).toEqual([422, 'invalid_rows']);
    expect(body.errors).toEqual([{ pointer, message: expect.any(String) }]);
  });

  test('a long whole number in a request is refused by its field', async () => {
    const request = '{"app_id":"a","dataset":{"rows":[{"input":"a","expected":1234567890123456789}]},"scorer":"exact"}';
    const { status, body } = await http.call('POST', '/api/v1/offline/jobs', request);
    expect([status, body.errors[0].pointer]).toEqual([422, '/dataset/rows/0/expected']);
  });
});

test('empty values count as absent; columns may lack in rows', async () => {
  const { body } = await upload('jsonl', '{"a":1,"b":null}\n\n{"a":2,"b":"","c":[3]}\r\n{"c":{"d":4}}\n');
  expect(body.num_rows).toBe(3);
  expect(body.columns).toEqual([
    { name: 'a', num_values: 2, num_distinct: 2, mean_chars: 1, labels: [] },
    { name: 'b', num_values: 0, num_distinct: 0, mean_chars: 0, labels: [] },
    { name: 'c', num_values: 2, num_distinct: 2, mean_chars: 5, labels: [] },
  ]);
});

test('labels are counted over all rows, also of a file that is sorted by them', async () => {
  const labels = Array.from({ length: 77 }, (_, n) => `label ${n}`);
  const lines = labels.flatMap((label, n) => Array<string>(n + 2).fill(`text of ${label},${label}`));
  const { body } = await upload('csv', ['text,label', ...lines].join('\n'));
  const [text, label] = body.columns;
  expect(text).toMatchObject({ num_distinct: 77, mean_chars: 16 });
  expect(label!.labels).toHaveLength(77);
  expect([label!.labels[0], label!.labels[76]]).toEqual([
    { label: 'label 76', count: 78 },
    { label: 'label 0', count: 2 },
  ]);
});

test.each(['json', 'jsonl', 'csv'] as const)('a line separator within a value does not end a row: %s', async (type) => {
  const [text, next] = ['one\u2028two\u2029three\u0085four', 'five'];
  const lines = { json: `[{"t":"${text}"},{"t":"${next}"}]`, jsonl: `{"t":"${text}"}\r\n{"t":"${next}"}\r\n` };
  const { body } = await upload(type, { ...lines, csv: `t\n${text}\n${next}\n` }[type]);
  expect(body.num_rows).toBe(2);
  expect((await rowsOf(body.dataset_id)).data).toEqual([
    { row: 0, data: { t: text } },
    { row: 1, data: { t: next } },
  ]);
});

describe('a faulty file', () => {
  const cases: [name: string, type: keyof typeof types, text: string, faults: [pointer: string, message: RegExp][]][] =
    [
      [
        'two lines that are not JSON',
        'jsonl',
        '{"a":1}\n{"a":\n{"a":2}\nx',
        [
          ['/line 2', /JSON/],
          ['/line 4', /JSON/],
        ],
      ],
      [
        'a row that is no object',
        'json',
        '[{"a":1},\n3,\n[1]]',
        [
          ['/line 2', /object/],
          ['/line 3', /object/],
        ],
      ],
      ['an element that is missing', 'json', '[{"a":1},,{"a":2}]', [['/line 1', /JSON/]]],
      ['an object instead of a list', 'json', '{"a":1}', [['', /list/]]],
      ['a list that is cut', 'json', '[{"a":1},{"a"', [['', /middle/]]],
      ['text after the list', 'json', '[{"a":1}] x', [['', /after/]]],
      ['a row without columns', 'jsonl', '{}', [['/line 1', /column/]]],
      ['a value without a name', 'csv', 'a, \n1,2\n', [['/line 2', /place 2/]]],
      ['a name twice', 'csv', 'a,b,a\n1,2,3\n', [['/line 1', /"a"/]]],
      ['a value too many', 'csv', 'a,b\n1,2\n1,2,3\n', [['/line 3', /3 values/]]],
      ['an open quote', 'csv', 'a,b\n1,"2\n', [['/line 2', /CSV/]]],
      ['no rows', 'csv', 'a,b\n', [['', /no rows/]]],
      ['nothing', 'jsonl', '', [['', /no rows/]]],
      ['NUL', 'jsonl', '{"a":"\\u0000"}', [['/line 1', /NUL/]]],
      ['the name __proto__', 'json', '[{"a":{"__proto__":1}}]', [['/line 1', /__proto__/]]],
      ['a row that is too long', 'jsonl', `{"a":"${'x'.repeat(uploadLimits.rowChars)}"}`, [['/line 1', /longer/]]],
    ];
  test.each(cases)('%s is refused by its line', async (_name, type, text, faults) => {
    const { status, body } = await upload(type, text);
    expect([status, body.code]).toEqual([422, 'invalid_rows']);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(faults.map(([pointer]) => pointer));
    for (const [index, [, message]] of faults.entries()) expect(body.errors[index].message).toMatch(message);
  });

  test('is refused with at most twenty faults, and stores nothing', async () => {
    const before = (await http.call('GET', base)).body.data.length;
    const { body } = await upload('jsonl', 'x\n'.repeat(1_000));
    expect(body.errors).toHaveLength(20);
    expect((await http.call('GET', base)).body.data).toHaveLength(before);
  });

  test('of another type is 415, of invalid UTF-8 422, above the limit 413', async () => {
    expect((await http.call('POST', base, 'a', { 'content-type': 'text/plain' })).status).toBe(415);
    const length = String(uploadLimits.bytes + 1);
    expect((await upload('csv', 'a\n1', { 'content-length': length })).status).toBe(413);
    const answer = await http.app.inject({
      method: 'POST',
      url: base,
      headers: { authorization: `Bearer ${http.key}`, 'content-type': 'text/csv' },
      payload: Buffer.from([0x61, 0x0a, 0xff, 0xfe, 0x0a]),
    });
    expect(answer.statusCode).toBe(422);
  });
});

test.each([
  ['a file above the limit', 'application/jsonl', 413, 'body_too_large', '{"a":1}\n'.repeat(200)],
  ['a file with faults', 'application/jsonl', 422, 'invalid_rows', 'x\n'.repeat(20)],
  ['a list with faults', 'application/json', 422, 'invalid_rows', `[${'1,'.repeat(30)}`],
  ['a CSV with faults', 'text/csv', 422, 'invalid_rows', `a,b\n${'1,2,3\n'.repeat(14_000)}`],
  ['a CSV in no UTF-8', 'text/csv', 422, 'invalid_rows', Buffer.from(`a\n${'1\n'.repeat(40_000)}\xff\n`, 'latin1')],
  ['a CSV with a faulty header', 'text/csv', 422, 'invalid_rows', `a,a\n${'1,2\n'.repeat(20_000)}`],
  [
    'a CSV with a row too long',
    'text/csv',
    422,
    'invalid_rows',
    `a,b\n1,"${'x'.repeat(uploadLimits.rowChars + 70_000)}`,
  ],
])(
  '%s, in chunks without a length, is refused, and the rest of it is read',
  async (_name, type, status, code, start) => {
    const limit = jest.replaceProperty(uploadLimits as { bytes: number }, 'bytes', status === 413 ? 1_000 : 10_000_000);
    const sent = request(`${url}${base}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${http.key}`, 'content-type': type },
    });
    sent.write(start);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect([answer.statusCode, JSON.parse(await text(answer)).code]).toEqual([status, code]);
    limit.restore();
    // More than what buffers hold.
    sent.end('{"a":1}\n'.repeat(4_000_000));
    await once(sent, 'finish');
  },
);

test.each([
  [undefined, undefined, 415, 'unsupported_media_type'],
  ['text/plain', 'a', 415, 'unsupported_media_type'],
  ['application/jsonl', undefined, 422, 'invalid_rows'],
])('an upload of type %s with body %s is refused', async (type, body, status, code) => {
  const headers = { authorization: `Bearer ${http.key}`, ...(type && { 'content-type': type }) };
  const answer = await fetch(`${url}${base}`, { method: 'POST', headers, ...(body && { body }) });
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([status, code]);
});

test('many rows are read by page, and leave no file behind', async () => {
  const text = Array.from({ length: 12_345 }, (_, row) => JSON.stringify({ row, text: 'x'.repeat(300) })).join('\n');
  const { body } = await upload('jsonl', text);
  expect(body.num_rows).toBe(12_345);
  const seen: number[] = [];
  for (let cursor = ''; ;) {
    const page = await rowsOf(body.dataset_id, `limit=1000${cursor}`);
    for (const { row, data } of page.data) {
      expect(data.row).toBe(row);
      seen.push(row);
    }
    if (!page.has_more) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect(seen).toEqual(Array.from({ length: 12_345 }, (_, row) => row));
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('ratchet-upload-'))).toEqual([]);
});

test('lists are newest first, by page; another organization sees and deletes nothing', async () => {
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) ids.unshift((await upload('jsonl', `{"n":${index}}`)).body.dataset_id);
  const first = (await http.call('GET', `${base}?limit=2`)).body;
  expect(first.data.map(({ dataset_id }: { dataset_id: string }) => dataset_id)).toEqual(ids.slice(0, 2));
  const second = (await http.call('GET', `${base}?limit=1&cursor=${first.next_cursor}`)).body;
  expect(second.data[0].dataset_id).toBe(ids[2]);
  const as = { authorization: `Bearer ${http.otherKey}` };
  expect((await http.call('GET', base, undefined, as)).body.data).toEqual([]);
  for (const path of [ids[0], `${ids[0]}/rows`]) {
    expect((await http.call('GET', `${base}/${path}`, undefined, as)).status).toBe(404);
  }
  expect((await http.call('DELETE', `${base}/${ids[0]}`, undefined, as)).status).toBe(404);
  expect((await http.call('DELETE', `${base}/${ids[0]}`)).status).toBe(204);
  expect((await http.call('GET', `${base}/${ids[0]}`)).status).toBe(404);
  expect((await http.call('DELETE', `${base}/${ids[0]}`)).status).toBe(404);
});
