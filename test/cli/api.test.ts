import { afterEach, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { Api } from '../../src/cli/api.js';
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
  await expect(rest()).rejects.toThrow('fetch failed');
});
