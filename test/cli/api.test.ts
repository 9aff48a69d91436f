import { afterEach, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { Api, ApiFailure, ServiceUnreachable } from '../../src/cli/service/api.js';
import { listen, type Listening } from '../support/loopback.js';

let server: Listening | undefined;
afterEach(() => server?.close());

const event = (seq: number) =>
  `id: ${seq}\ndata: ${JSON.stringify({ type: 'paused', seq, message: '', data: {} })}\n\n`;

/**
 * Streams events up to 4 after the last seen one; the first connection breaks within the third,
 * then 204.
 */
async function serve(): Promise<{ api: Api; streams: () => number }> {
  let streams = 0;
  server = await listen(
    createServer((request, response) => {
      const last = Number(request.headers['last-event-id']);
      if (last === 4) return response.writeHead(204).end();
      streams += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const rest = [1, 2, 3, 4].filter((seq) => seq > last).map(event);
      if (streams > 1) return response.end(rest.join(''));
      const half = `${rest.slice(0, 2).join('')}${rest[2]!.slice(0, 9)}`;
      return response.write(half, () => setImmediate(() => response.socket?.resetAndDestroy()));
    }),
  );
  return { api: new Api(server.url, 'key'), streams: () => streams };
}

async function follow(api: Api): Promise<number[]> {
  const seen: number[] = [];
  for await (const { seq } of api.follow('/events')) seen.push(seq);
  return seen;
}

test('resumes a broken stream after the last event', async () => {
  const { api, streams } = await serve();
  expect(await follow(api)).toEqual([1, 2, 3, 4]);
  expect(streams()).toBe(2);
});

test('throws an error when the service is gone', async () => {
  const { api } = await serve();
  const events = api.follow('/events');
  await events.next();
  await server!.close();
  const rest = async () => {
    for await (const _ of events);
  };
  await expect(rest()).rejects.toThrow(ServiceUnreachable);
});

test.each([
  ['an HTML page', 502, '<html>Bad Gateway</html>'],
  ['no body', 500, ''],
  ['a page with 200', 200, '<html>Welcome</html>'],
  ['JSON that is no object', 500, 'null'],
])('an answer of %s is a failure with its status', async (_, status, body) => {
  server = await listen(createServer((_request, response) => response.writeHead(status).end(body)));
  const call = new Api(server.url, 'key').call('GET', '/jobs');
  await expect(call).rejects.toBeInstanceOf(ApiFailure);
  await expect(call).rejects.toMatchObject({ status, message: expect.stringContaining(server.url) });
});

test('a service that is not there is named with its address', async () => {
  server = await listen(createServer());
  await server.close();
  const { url } = server;
  const call = new Api(url, 'key').call('GET', '/jobs');
  await expect(call).rejects.toBeInstanceOf(ServiceUnreachable);
  await expect(call).rejects.toThrow(/ECONNREFUSED/);
});

test('an answer that breaks off is no crash', async () => {
  server = await listen(
    createServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"a"', () => setImmediate(() => response.socket?.resetAndDestroy()));
    }),
  );
  await expect(new Api(server.url, 'key').call('GET', '/jobs')).rejects.toBeInstanceOf(ServiceUnreachable);
});

test('an event stream that is refused is a failure of the API', async () => {
  server = await listen(createServer((_request, response) => response.writeHead(404).end('{"detail":"not found"}')));
  await expect(follow(new Api(server.url, 'key'))).rejects.toMatchObject({ status: 404 });
});

test.each([2, 5])('each of %d faulty fields is named once', (count) => {
  const errors = Array.from({ length: count }, (_, at) => ({ pointer: `/field${at}`, message: `must be ${at}` }));
  const shown = errors.slice(0, 3).map(({ pointer, message }) => `${pointer.slice(1)}: ${message}`);
  const failure = new ApiFailure('POST /jobs', 422, { detail: `${shown.join('; ')}.`, errors });
  expect(failure.errors).toEqual(errors);
  for (const { message } of errors) expect(failure.message.split(message)).toHaveLength(2);
});
