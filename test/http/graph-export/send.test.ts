import { afterAll, expect, test } from '@jest/globals';
import fastify from 'fastify';
import { sendArchive } from '../../../src/http/graph-export/send.js';

const archive = { fileName: 'graph_1-graph.zip', bytes: Buffer.from('PK'), etag: '"abc"' };
const app = fastify();
app.get('/', (request, reply) => sendArchive(request, reply, archive));
afterAll(() => app.close());
const get = (headers: Record<string, string> = {}) => app.inject({ method: 'GET', url: '/', headers });

test('an archive is sent as a download', async () => {
  const { statusCode, headers, rawPayload } = await get();
  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': 'attachment; filename="graph_1-graph.zip"',
    'content-length': '2',
    etag: '"abc"',
  });
  expect(rawPayload).toEqual(archive.bytes);
});

test.each(['"abc"', '"x", "abc"', 'W/"abc"', '*'])(
  'is not sent again to who has it: If-None-Match: %s',
  async (tags) => {
    const { statusCode, headers, body } = await get({ 'if-none-match': tags });
    expect([statusCode, headers['etag'], body]).toEqual([304, '"abc"', '']);
  },
);

test.each(['"x"', 'abc', ''])('is sent to who has another: If-None-Match: %s', async (tags) => {
  expect((await get({ 'if-none-match': tags })).statusCode).toBe(200);
});
