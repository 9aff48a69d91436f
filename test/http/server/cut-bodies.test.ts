import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { buildApp } from '../../../src/http/app.js';
import type { App } from '../../../src/http/deps.js';
import { httpOfFile } from '../support.js';

// A caller that goes before its body is whole: no error of the service in its log.

const http = httpOfFile();
const lines: { level: number; msg: string }[] = [];
let app: App;
let port: number;
beforeEach(async () => {
  const write = (line: string) => void lines.push(JSON.parse(line) as { level: number; msg: string });
  const log = pino({ level: 'info' }, { write });
  app = await buildApp({ ...http.deps, log });
  port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
});
afterEach(() => app.close());

test.each([
  ['/api/v1/datasets', 'application/jsonl'],
  ['/api/v1/datasets', 'text/csv'],
  ['/api/v1/datasets', 'application/json'],
  ['/api/v1/offline/jobs', 'application/json'],
])('POST %s of %s', async (path, type) => {
  const socket = connect(port, '127.0.0.1');
  const head = [
    ...[`POST ${path} HTTP/1.1`, 'host: 127.0.0.1', `x-api-key: ${http.key}`],
    ...[`content-type: ${type}`, 'content-length: 100000', '', '{"input": "a"'],
  ];
  const connected = once(app.server, 'connection') as Promise<[Socket]>;
  const handled = once(app.server, 'request');
  socket.write(head.join('\r\n'));
  const [[peer]] = await Promise.all([connected, handled]);
  // The handler of the first request reads its body by then.
  await fetch(`http://127.0.0.1:${port}/api/v1/datasets`, { headers: { 'x-api-key': http.key } });
  const closed = once(peer, 'close');
  socket.destroy();
  await closed;
  await app.close();
  expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
});
