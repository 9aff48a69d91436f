import crypto from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { until } from '../../support/until.js';
import { httpOfFile } from '../support.js';

const http = httpOfFile();
const path = '/api/v1/online/sessions';
const ask = (remoteAddress: string, key: string, url = path) =>
  http.app.inject({ url, remoteAddress, headers: { authorization: `Bearer ${key}` } });

/** The monotonic clock's lead. The limiter reads it at most once a millisecond. */
let ahead = 0;
beforeAll(() => {
  const { now } = performance;
  jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + ahead);
});
afterAll(() => void jest.restoreAllMocks());

async function failures(times: number, addressOf: (n: number) => string): Promise<number[]> {
  const answers: number[] = [];
  for (let n = 0; n < times; n += 1) {
    answers.push((await ask(addressOf(n), `unknown-${n}`)).statusCode);
    // No faster than a stranger may ask.
    ahead += 10;
  }
  return answers;
}

test('an address with 100 failed authentications is 429 without a look-up, until its window ends', async () => {
  expect(new Set(await failures(100, () => '203.0.113.1'))).toEqual(new Set([401]));
  const lookUp = jest.spyOn(http.db, 'auth');
  const answer = await ask('203.0.113.1', 'unknown');
  expect([answer.statusCode, answer.json().code, lookUp.mock.calls]).toEqual([429, 'too_many_failures', []]);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(30);
  expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect((await ask('::ffff:203.0.113.1', 'unknown')).statusCode).toBe(429);
  expect((await ask('203.0.113.1', 'unknown', '/readyz')).statusCode).toBe(429);
  expect((await ask('203.0.113.2', 'unknown')).statusCode).toBe(401);
  lookUp.mockRestore();
  ahead += 61_000;
  await until('the window ends', async () => (await ask('203.0.113.1', 'unknown')).statusCode === 401);
});

test('later failures do not prolong the window', async () => {
  await failures(1, () => '203.0.113.5');
  ahead += 40_000;
  await failures(99, () => '203.0.113.5');
  expect((await ask('203.0.113.5', 'unknown')).statusCode).toBe(429);
  ahead += 21_000;
  await until('the window ends', async () => (await ask('203.0.113.5', 'unknown')).statusCode === 401);
});

test('the addresses of an IPv6 /64 count as one', async () => {
  expect(new Set(await failures(100, (n) => `2001:db8:0:1::${n.toString(16)}`))).toEqual(new Set([401]));
  expect((await ask('2001:db8:0:1:ffff::', 'unknown')).statusCode).toBe(429);
  expect((await ask('2001:db8:0:2::', 'unknown')).statusCode).toBe(401);
});

test('keys that were accepted before, inference keys and public routes pass', async () => {
  expect((await ask('203.0.113.3', http.otherKey)).statusCode).toBe(200);
  await failures(100, () => '203.0.113.4');
  expect((await ask('203.0.113.4', http.otherKey)).statusCode).toBe(200);
  expect((await ask('203.0.113.4', http.key)).statusCode).toBe(429);
  expect((await ask('203.0.113.4', 'rip_unknown')).statusCode).toBe(401);
  expect((await http.app.inject({ url: '/readyz', remoteAddress: '203.0.113.4' })).statusCode).toBe(200);
  expect((await ask('203.0.113.4', 'unknown', '/livez')).statusCode).toBe(200);
});

test('a key that was accepted and is revoked passes no longer', async () => {
  const { body } = await http.call('POST', '/api/v1/admin/keys', { name: 'a', scopes: ['read'] });
  expect((await ask('203.0.113.6', body.key)).statusCode).toBe(200);
  await failures(100, () => '203.0.113.6');
  expect((await ask('203.0.113.6', body.key)).statusCode).toBe(200);
  await http.call('DELETE', `/api/v1/admin/keys/${body.key_id}`);
  ahead += 5_000;
  // The first refusal needs a look-up.
  expect((await ask('203.0.113.6', body.key)).statusCode).toBe(401);
  expect((await ask('203.0.113.6', body.key)).statusCode).toBe(429);
});

test('a request with two keys does not make the accepted one a stranger', async () => {
  const headers = { authorization: `Bearer ${http.key}`, 'x-api-key': 'unknown' };
  expect((await ask('203.0.113.7', http.key)).statusCode).toBe(200);
  const both = await http.app.inject({ url: path, remoteAddress: '203.0.113.7', headers });
  expect(both.statusCode).toBe(401);
  await failures(100, () => '203.0.113.7');
  expect((await ask('203.0.113.7', http.key)).statusCode).toBe(200);
});

test('a key is hashed once for each request', async () => {
  const [keyed, plain] = [jest.spyOn(crypto, 'createHmac'), jest.spyOn(crypto, 'hash')];
  const answers = [await ask('203.0.113.5', http.key), await ask('203.0.113.5', 'unknown')];
  const times = keyed.mock.calls.length + plain.mock.calls.length;
  for (const spy of [keyed, plain]) spy.mockRestore();
  expect([answers.map(({ statusCode }) => statusCode), times]).toEqual([[200, 401], 2]);
});

test('loopback has ten times as many', async () => {
  expect(new Set(await failures(1_000, () => '127.0.0.1'))).toEqual(new Set([401]));
  expect((await ask('127.0.0.1', 'unknown')).statusCode).toBe(429);
});

test('strangers who hurry wait or are 429, and callers with a key do not', async () => {
  const address = '203.0.113.9';
  expect((await ask(address, http.key)).statusCode).toBe(200);
  const hurried = await Promise.all(
    Array.from({ length: 1_000 }, () => http.app.inject({ url: '/livez', remoteAddress: address })),
  );
  const count = (status: number) => hurried.filter(({ statusCode }) => statusCode === status).length;
  expect(count(200) + count(429)).toBe(1_000);
  expect(count(200)).toBeGreaterThanOrEqual(200);
  expect(count(429)).toBeGreaterThan(300);
  const refused = hurried.find(({ statusCode }) => statusCode === 429)!;
  expect([refused.json().code, refused.headers['retry-after']]).toEqual(['too_many_requests', '1']);
  expect((await ask(address, http.key)).statusCode).toBe(200);
});
