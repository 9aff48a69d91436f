import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createProviders } from '../../../src/models/client/providers.js';
import { listen, type Listening } from '../../support/loopback.js';

const signal = new AbortController().signal;
const body = JSON.stringify({ choices: [{ index: 0, message: { content: 'hello' }, finish_reason: 'stop' }] });
const answer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const open: Listening[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** A provider that reacts to the n-th request of its k-th connection. */
async function provider(react: (socket: Socket, n: number, k: number) => void) {
  let connections = 0;
  let requests = 0;
  const server = createServer((socket) => {
    const k = (connections += 1);
    let n = 0;
    socket.on('error', () => undefined);
    socket.on('data', (part) => {
      if (!part.toString().includes('POST ')) return;
      requests += 1;
      react(socket, (n += 1), k);
    });
  });
  const listening = await listen(server);
  open.push(listening);
  const retried: string[] = [];
  const observer = { modelCall: () => undefined, retry: (name: string) => void retried.push(name) };
  const providers = createProviders({ OLLAMA_BASE_URL: `${listening.url}/v1` }, { observer });
  const ask = async () => {
    const given = await providers.send('ollama', { model: 'm', messages: [] }, signal);
    const text = (await given.read()).toString();
    // The pool takes the connection back after the end of the body.
    await new Promise(setImmediate);
    return `${given.status} ${text}`;
  };
  return { ask, retried, requests: () => requests, close: () => providers.close() };
}

describe('an unasked 100 Continue', () => {
  test.each<[string, string[]]>([
    ['in one write with the answer', [`HTTP/1.1 100 Continue\r\n\r\n${answer}`]],
    ['before the answer', ['HTTP/1.1 100 Continue\r\n\r\n', answer]],
    [
      'with headers, twice, in pieces',
      ['HTTP/1.1 1', '00 Continue\r\nx: y\r', '\n\r\nHTTP/1.1 100 Continue\r\n\r\n', answer],
    ],
    ['after a 103', [`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${answer}`]],
    [
      'between others',
      ['HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 C', `ontinue\r\n\r\nHTTP/1.1 199 X\r\n\r\n${answer}`],
    ],
    ['and a 103', [`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${answer}`]],
  ])('is tolerated %s', async (_name, parts) => {
    const { ask, close } = await provider((socket) => {
      void (async () => {
        for (const part of parts) {
          socket.write(part);
          await new Promise(setImmediate);
        }
      })();
    });
    for (let n = 0; n < 3; n += 1) expect(await ask()).toBe(`200 ${body}`);
    await close();
  });

  test('is not taken out of an answer that holds its text', async () => {
    const text = JSON.stringify({ text: 'HTTP/1.1 100 Continue\r\n\r\n' });
    const { ask, close } = await provider((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n`);
      setImmediate(() => socket.write(text));
    });
    expect(await ask()).toBe(`200 ${text}`);
    await close();
  });
});

describe('a request that meets a dead kept connection', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['closed', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ])('is sent once more on a fresh one: %s', async (_name, end) => {
    const { ask, retried, requests, close } = await provider((socket, n) =>
      n === 1 ? socket.write(answer) : end(socket),
    );
    expect([await ask(), await ask()]).toEqual([`200 ${body}`, `200 ${body}`]);
    expect({ retried, requests: requests() }).toEqual({ retried: ['ollama'], requests: 3 });
    await close();
  });

  test('is sent on a fresh one, where the reset came before its first byte', async () => {
    let kept: Socket | null = null;
    const { ask, retried, requests, close } = await provider((socket) => (kept = socket).write(answer));
    expect(await ask()).toBe(`200 ${body}`);
    kept!.resetAndDestroy();
    expect(await ask()).toBe(`200 ${body}`);
    expect({ retried, requests: requests() }).toEqual({ retried: ['ollama'], requests: 2 });
    await close();
  });

  test('is not, where the server worked for some seconds: the call may be paid', async () => {
    const { ask, retried, requests, close } = await provider((socket, n) => {
      if (n === 1) socket.write(answer);
      else setTimeout(() => socket.end(), 2_100);
    });
    expect(await ask()).toBe(`200 ${body}`);
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_connection_lost' });
    expect({ retried, requests: requests() }).toEqual({ retried: [], requests: 2 });
    await close();
  });

  test('is not, once a byte of the answer has come, or on a first connection', async () => {
    const later = await provider((socket, n) => (n === 1 ? socket.write(answer) : socket.end('HTTP/1.1 2')));
    expect(await later.ask()).toBe(`200 ${body}`);
    await expect(later.ask()).rejects.toMatchObject({ code: 'upstream_connection_lost' });
    const first = await provider((socket) => socket.end());
    await expect(first.ask()).rejects.toMatchObject({ code: 'upstream_connection_lost' });
    expect([later.retried, first.retried, first.requests()]).toEqual([[], [], 1]);
    await Promise.all([later.close(), first.close()]);
  });
});
