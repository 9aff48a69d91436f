import { afterAll, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import fastify from 'fastify';
import { sendArchive } from '../../../../../src/kinds/graph/routes/export/send.js';

let opened = 0;
const open = () => {
  opened += 1;
  return Readable.from([Buffer.from('PK')]);
};
const archive = { fileName: 'graph_1-graph.zip', open, etag: '"abc"' };
const app = fastify();
app.get('/', (request, reply) => sendArchive(request, reply, archive));
afterAll(() => app.close());
const get = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  app.inject({ method, url: '/', headers });
const download = {
  'content-type': 'application/zip',
  'content-disposition': 'attachment; filename="graph_1-graph.zip"',
  etag: '"abc"',
};

test('an archive is sent as a download', async () => {
  const { statusCode, headers, rawPayload } = await get();
  expect(statusCode).toBe(200);
  expect(headers).toMatchObject(download);
  expect(rawPayload).toEqual(Buffer.from('PK'));
});

test('HEAD has the same headers, and creates nothing for the body', async () => {
  const before = opened;
  const { statusCode, headers, body } = await get({}, 'HEAD');
  expect([statusCode, body, opened]).toEqual([200, '', before]);
  expect(headers).toMatchObject(download);
  expect(headers).not.toHaveProperty('content-length');
  expect((await get({ 'if-none-match': '"abc"' }, 'HEAD')).statusCode).toBe(304);
});

test.each(['"abc"', '"x", "abc"', 'W/"abc"', '*'])(
  'is not sent again to a client that has it: If-None-Match: %s',
  async (tags) => {
    const { statusCode, headers, body } = await get({ 'if-none-match': tags });
    expect([statusCode, headers['etag'], body]).toEqual([304, '"abc"', '']);
  },
);

test.each(['"x"', 'abc', ''])('is sent to a client with another version: If-None-Match: %s', async (tags) => {
  expect((await get({ 'if-none-match': tags })).statusCode).toBe(200);
});
