import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { createEgressAgent } from '../../../src/clients/net/egress.js';
import { createProviders } from '../../../src/models/client/providers.js';
import { readProxySettings } from '../../../src/util/proxy.js';
import { startFakeModel, type FakeModel } from '../../support/fakes/model.js';

/** A forward proxy that leads every host to one server, and what it was asked for. */
let proxy: Server;
let asked: string[];
let model: FakeModel;
let env: Record<string, string>;

beforeAll(async () => {
  model = await startFakeModel(() => ({ text: 'hello' }));
  const { port } = new URL(model.url);
  proxy = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const path = new URL(incoming.url!).pathname;
    void request(`http://127.0.0.1:${port}${path}`, {
      method: incoming.method as 'POST',
      headers: { 'content-type': 'application/json' },
      body: incoming.method === 'GET' ? null : incoming,
    }).then(async (answer) => {
      outgoing.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type']) });
      outgoing.end(await answer.body.text());
    });
  });
  proxy.on('connect', (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  env = { http_proxy: url, HTTPS_PROXY: url };
});
beforeEach(() => void (asked = []));
afterAll(async () => {
  proxy.close();
  await model.close();
});

const call = async (baseUrl: string, variables = env) => {
  const providers = createProviders({ ...variables, RATCHET_PROVIDERS: 'far', FAR_BASE_URL: baseUrl });
  try {
    const body = { model: 'any', messages: [{ role: 'user', content: 'hi' }] };
    const answer = await providers.send('far', body, AbortSignal.timeout(10_000));
    return answer.status;
  } finally {
    await providers.close();
  }
};

describe('calls of models', () => {
  test('go through the proxy, in plain HTTP without a tunnel', async () => {
    expect(await call('http://model.example/v1')).toBe(200);
    expect(asked).toEqual(['POST http://model.example/v1/chat/completions']);
  });

  test('ask for a tunnel to https', async () => {
    await expect(call('https://model.example/v1')).rejects.toThrow();
    expect(asked).toEqual(['CONNECT model.example:443']);
  });

  test.each<[string, string, number]>([
    ['an unasked 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}', 200],
    ['a 502 of the proxy', 'HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n', 502],
  ])('hear %s in plain HTTP', async (_name, said, status) => {
    const raw = createTcpServer((socket) => socket.on('data', () => socket.write(said)));
    raw.listen(0, '127.0.0.1');
    await once(raw, 'listening');
    const http_proxy = `http://127.0.0.1:${(raw.address() as AddressInfo).port}`;
    expect(await call('http://model.example/v1', { http_proxy })).toBe(status);
    raw.close();
  });

  test('are refused by a proxy that wants a password: nothing was sent to the model', async () => {
    const raw = createServer((_incoming, outgoing) => outgoing.writeHead(407).end());
    raw.listen(0, '127.0.0.1');
    await once(raw, 'listening');
    const http_proxy = `http://127.0.0.1:${(raw.address() as AddressInfo).port}`;
    await expect(call('http://model.example/v1', { http_proxy })).rejects.toMatchObject({
      code: 'upstream_unreachable',
      isLasting: true,
    });
    raw.close();
  });

  test('to this machine and to hosts of no_proxy are direct', async () => {
    expect(await call(model.url)).toBe(200);
    await expect(call('http://model.invalid/v1', { ...env, no_proxy: 'invalid' })).rejects.toThrow();
    expect(asked).toEqual([]);
  });
});

describe('calls of containers, scorers and webhooks', () => {
  const get = async (url: string, mode: 'dev' | 'public') => {
    const proxySettings = readProxySettings(env).settings;
    const agent = createEgressAgent({ mode, allowlist: [], proxy: proxySettings });
    try {
      return (await request(url, { dispatcher: agent })).statusCode;
    } finally {
      await agent.close();
    }
  };

  test('go through the proxy', async () => {
    await get('http://container.example/health', 'public');
    expect(asked).toEqual(['GET http://container.example/health']);
  });

  test.each(['http://10.1.2.3/', 'http://169.254.169.254/', 'http://127.0.0.1:9/', 'http://localhost:9/'])(
    'keep the policy: %s',
    async (url) => {
      await expect(get(url, 'public')).rejects.toThrow(/RATCHET_EGRESS|never called/);
      expect(asked).toEqual([]);
    },
  );

  test('to this machine are direct', async () => {
    expect(await get(`${new URL(model.url).origin}/health`, 'dev')).toBeGreaterThanOrEqual(200);
    expect(asked).toEqual([]);
  });
});
