import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { buildApp } from '../../../../src/platform/http/app.js';
import type { App } from '../../../../src/platform/http/deps.js';
import { httpOfFile } from '../support.js';

// A caller that goes before its body is whole: no error of the service in its log.

const http = httpOfFile();
let lines: { level: number; msg: string }[] = [];
let app: App;
let port: number;
beforeEach(async () => {
  lines = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as { level: number; msg: string });
  const log = pino({ level: 'info' }, { write });
  app = await buildApp({ ...http.deps, log });
  port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
});
afterEach(() => app.close());

/** A whole request; the handler of the one before reads its body by then. */
const ask = () => fetch(`http://127.0.0.1:${port}/api/v1/datasets`, { headers: { 'x-api-key': http.key } });

test.each([
  ['/api/v1/datasets', 'application/jsonl'],
  ['/api/v1/datasets', 'text/csv'],
  ['/api/v1/datasets', 'application/json'],
  ['/api/v1/offline/jobs', 'application/json'],
])('POST %s of %s', async (path, type) => {
  const socket = connect(port, '127.0.0.1');
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    `x-api-key: ${http.key}`,
    `content-type: ${type}`,
    'content-length: 100000',
    '',
    '{"input": "a"',
  ];
  const connected = once(app.server, 'connection') as Promise<[Socket]>;
  const handled = once(app.server, 'request');
  socket.write(head.join('\r\n'));
  const [[peer]] = await Promise.all([connected, handled]);
  await ask();
  const closed = once(peer, 'close');
  socket.destroy();
  await closed;
  await app.close();
  expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
});

test.each([true, false])('a caller that is gone at once, with a key: %j', async (hasKey) => {
  app.server.prependOnceListener('request', ({ socket }: IncomingMessage) => socket.destroy());
  const handled = once(app.server, 'request');
  const socket = connect(port, '127.0.0.1');
  const key = hasKey ? [`x-api-key: ${http.key}`] : [];
  const head = ['POST /api/v1/datasets HTTP/1.1', 'host: 127.0.0.1', 'content-type: application/jsonl'];
  socket.write([...head, ...key, 'content-length: 12', '', '{"input": 1}'].join('\r\n'));
  await handled;
  await ask();
  expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
});

test('a caller that goes after its body, before it is read', async () => {
  const socket = connect(port, '127.0.0.1');
  const body = 'x'.repeat(20_000);
  app.server.prependOnceListener('request', (request: IncomingMessage) => {
    const { push } = request;
    request.push = (chunk, encoding) => {
      const isEnd = chunk === null;
      const more = push.call(request, chunk as unknown, encoding);
      if (isEnd) request.socket.destroy();
      return more;
    };
  });
  const closed = once(socket, 'close');
  const head = ['POST /api/v1/datasets HTTP/1.1', 'host: 127.0.0.1', 'content-type: application/jsonl'];
  socket.write([...head, `x-api-key: ${http.key}`, `content-length: ${body.length}`, '', body].join('\r\n'));
  await closed;
  await ask();
  expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
});
