import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fastify from 'fastify';
import type { App } from '../../../../src/platform/http/deps.js';
import { toApiError } from '../../../../src/platform/http/server/errors.js';
import { registerHosts } from '../../../../src/platform/http/server/hosts.js';
import { startHttp, type TestHttp } from '../support.js';

// Invariant: a page in a browser reaches nothing, by whatever name it calls this machine.

const path = '/api/v1/online/sessions';
const missing = `${path}/ses_none/pause`;
let http: TestHttp;

beforeAll(async () => {
  http = await startHttp({
    publicUrl: 'https://ratchet.example.com:8443',
    listenHost: '10.1.2.3',
    allowedHosts: ['ratchet-api', 'ratchet-api.prod.svc.cluster.local', '[fd00::1]'],
  });
});
afterAll(() => http.close());

const get = async (host: string, url = path) => (await http.call('GET', url, undefined, { host })).status;

describe('the host of a request', () => {
  test.each(['localhost', 'LOCALHOST:8787', '127.0.0.1', '127.9.9.9:80', '[::1]:8787', '10.1.2.3:8787'])(
    'may be %s',
    async (host) => expect(await get(host)).toBe(200),
  );

  test.each(['ratchet.example.com', 'ratchet.example.com:8443', 'Ratchet.Example.com:80'])(
    'may be that of the public URL: %s',
    async (host) => expect(await get(host)).toBe(200),
  );

  test.each(['ratchet-api', 'Ratchet-API:8787', 'ratchet-api.prod.svc.cluster.local:80', '[fd00::1]:8787'])(
    'may be one of the allowed: %s',
    async (host) => expect(await get(host)).toBe(200),
  );

  test.each([
    'evil.example',
    'ratchet-api.evil.example',
    'x.ratchet-api',
    'ratchet-api.prod.svc',
    'fd00::1',
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    '1270.0.0.1',
    '0.0.0.0',
    '10.1.2.4',
    '[::2]',
    'evil@localhost',
    'localhost:1:2',
    ' ',
  ])('may not be "%s"', async (host) => {
    expect(await get(host)).toBe(421);
    for (const url of ['/', '/docs', '/openapi.json', '/nothing']) expect(await get(host, url)).toBe(421);
    for (const url of ['/livez', '/readyz']) expect(await get(host, url)).toBe(200);
  });

  test('is refused as a problem that names it, before the key is looked at', async () => {
    const headers = { host: 'evil.example:81', authorization: 'Bearer unknown' };
    const { status, body } = await http.call('POST', missing, {}, headers);
    expect([status, body.code]).toEqual([421, 'unknown_host']);
    expect(body.detail).toContain('evil.example:81');
  });
});

test.each([
  ['Ratchet.LAN', 'ratchet.lan:8787', 200],
  ['::2', '[::2]:8787', 200],
  ['::2', '[::3]', 421],
  ['0.0.0.0', '0.0.0.0:8787', 421],
  ['::', '[::]:8787', 421],
])('with HOST=%s the host %s is %i', async (listenHost, host, status) => {
  const app = fastify();
  app.setErrorHandler((error, _request, reply) => reply.code(toApiError(error).status).send());
  registerHosts(app as unknown as App, { publicUrl: 'http://127.0.0.1:8787', listenHost, allowedHosts: [] });
  app.get('/x', () => '');
  expect((await app.inject({ url: '/x', headers: { host } })).statusCode).toBe(status);
});

describe('a change', () => {
  const post = async (origin: string, host = 'localhost:8787') => {
    const { status, body } = await http.call('POST', missing, {}, { host, origin });
    return [status, body.code];
  };

  test.each(['http://evil.example', 'null', 'http://localhost:3000', 'http://127.0.0.1:8787', 'nonsense'])(
    'for a page of %s is refused',
    async (origin) => expect(await post(origin)).toEqual([403, 'foreign_origin']),
  );

  test.each(['http://localhost:8787', 'https://ratchet.example.com:8443'])(
    'for a page of ours at %s is not',
    async (origin) => expect(await post(origin)).toEqual([404, 'not_found']),
  );

  test('a read for another page is answered, and the page may not see it', async () => {
    const { status, headers } = await http.call('GET', path, undefined, { origin: 'http://evil.example' });
    expect([status, headers['access-control-allow-origin']]).toEqual([200, undefined]);
  });
});
