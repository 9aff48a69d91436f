import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { payloadCodec } from '../../../../src/platform/temporal/codec.js';
import { httpOfFile } from '../support.js';

// Invariant: Temporal's UI and command line read encrypted payloads with an operator's admin key,
// and nobody else does.

const uiOrigin = 'https://temporal.example.com';
const codec = payloadCodec(randomBytes(32));
const http = httpOfFile({ codec: { codec, namespace: 'jobs', uiOrigin } });
const without = httpOfFile();

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');
const clear = { metadata: { encoding: base64('json/plain') }, data: base64('{"secret":1}') };
let sealed: { metadata: Record<string, string>; data: string };
beforeAll(async () => {
  const { body } = await http.call('POST', '/codec/encode', { payloads: [clear] });
  sealed = body.payloads[0];
});

const decode = (payloads: unknown[], headers: Record<string, string> = {}) =>
  http.call('POST', '/codec/decode', { payloads }, headers);

describe('the codec', () => {
  test('encrypts payloads as workers do, and decrypts them', async () => {
    expect(sealed.metadata).toEqual({ encoding: base64('binary/encrypted') });
    const [known] = await codec.decode([
      { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from(sealed.data, 'base64') },
    ]);
    expect(Buffer.from(known!.data!).toString()).toBe('{"secret":1}');
    const { status, body } = await decode([sealed, clear, {}], { 'x-namespace': 'jobs' });
    expect([status, body]).toEqual([200, { payloads: [clear, clear, { metadata: {}, data: '' }] }]);
  });

  test('takes an event of 4 MiB', async () => {
    const large = { ...clear, data: base64(Buffer.alloc(4 * 1024 * 1024, 'x')) };
    const { status, body } = await http.call('POST', '/codec/encode', { payloads: [large] });
    expect(status).toBe(200);
    expect((await decode(body.payloads)).body.payloads).toEqual([large]);
  });

  test('names a payload that it cannot decrypt', async () => {
    const foreign = { ...sealed, data: base64(randomBytes(60)) };
    for (const bad of [foreign, { ...sealed, data: '' }, { metadata: sealed.metadata }]) {
      const { status, body } = await decode([clear, bad]);
      expect([status, body.errors[0].pointer]).toEqual([422, '/payloads/1']);
    }
  });

  test('is of one namespace, which an absent or empty header means', async () => {
    expect((await decode([sealed], { 'x-namespace': '' })).body).toEqual({ payloads: [clear] });
    const { status, body } = await decode([sealed], { 'x-namespace': 'other' });
    expect([status, body.code]).toEqual([422, 'unknown_namespace']);
  });

  test('stores nothing: not under an idempotency key, nor in the audit log', async () => {
    const { status } = await decode([sealed], { 'idempotency-key': 'again' });
    expect(status).toBe(200);
    const stored = await http.db.org('default', async (tx) => [
      ...(await tx.query('select * from idempotency_keys')),
      ...(await tx.query('select * from audit_log')),
    ]);
    expect(stored).toEqual([]);
  });

  test('is documented, for the scope admin', async () => {
    const { paths } = (await http.call('GET', '/openapi.json')).body;
    for (const path of ['/codec/decode', '/codec/encode'])
      expect(paths[path].post.security).toEqual([{ bearer: ['admin'] }, { apiKey: ['admin'] }]);
  });

  test('is absent without a codec key', async () => {
    const { status } = await without.call('POST', '/codec/decode', { payloads: [] });
    expect(status).toBe(404);
  });
});

describe('nobody else', () => {
  test('without a key', async () => {
    const { status, body } = await decode([sealed], { authorization: 'Bearer nobody' });
    expect([status, body.code]).toEqual([401, 'unauthorized']);
  });

  test('with a key of other scopes', async () => {
    const created = await http.call('POST', '/api/v1/admin/keys', { name: 'x', scopes: ['read', 'write', 'infer'] });
    const { status, body } = await decode([sealed], { authorization: `Bearer ${created.body.key}` });
    expect([status, body.code]).toEqual([403, 'missing_scope']);
  });

  test('with an admin key of another organization', async () => {
    for (const name of ['decode', 'encode']) {
      const headers = { authorization: `Bearer ${http.otherKey}` };
      const { status, body } = await http.call('POST', `/codec/${name}`, { payloads: [sealed] }, headers);
      expect([status, body.code]).toEqual([403, 'not_operator']);
    }
  });
});

describe('a page', () => {
  const preflight = (origin: string, url = '/codec/decode') =>
    http.app.inject({ method: 'OPTIONS', url, headers: { origin, 'access-control-request-method': 'POST' } });

  test('of the Temporal UI may ask, after a preflight without a key', async () => {
    const { statusCode, headers } = await preflight(uiOrigin);
    expect([statusCode, headers['access-control-allow-origin'], headers['vary']]).toEqual([204, uiOrigin, 'origin']);
    expect(headers['access-control-allow-methods']).toBe('POST');
    for (const name of ['authorization', 'content-type', 'x-namespace'])
      expect(headers['access-control-allow-headers']).toContain(name);
    const answer = await decode([sealed], { origin: uiOrigin });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, uiOrigin]);
    const refused = await decode([sealed], { origin: uiOrigin, authorization: 'Bearer nobody' });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, uiOrigin]);
  });

  test('of the Temporal UI may call nothing else', async () => {
    for (const path of ['/api/v1/online/sessions', '/codec'])
      expect((await preflight(uiOrigin, path)).headers['access-control-allow-origin']).toBeUndefined();
    const { status, body } = await http.call('POST', '/api/v1/admin/keys', {}, { origin: uiOrigin });
    expect([status, body.code]).toEqual([403, 'foreign_origin']);
  });

  test.each(['http://temporal.example.com', 'https://temporal.example.com:8443', 'https://evil.example', 'null'])(
    'of %s may not ask',
    async (origin) => {
      const { statusCode, headers } = await preflight(origin);
      expect([statusCode, headers['access-control-allow-origin']]).toEqual([401, undefined]);
      const { status, body } = await decode([sealed], { origin });
      expect([status, body.code]).toEqual([403, 'foreign_origin']);
    },
  );

  test('of the Temporal UI may not ask by another name of this service', async () => {
    const headers = { origin: uiOrigin, host: 'evil.example' };
    const { statusCode } = await http.app.inject({ method: 'OPTIONS', url: '/codec/decode', headers });
    expect(statusCode).toBe(421);
  });
});
