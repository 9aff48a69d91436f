import crypto from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
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

/** Status codes of so many unknown keys at once. */
const flood = (address: string, size: number, url = path) =>
  Promise.all(Array.from({ length: size }, (_, n) => ask(address, `flood-${n}`, url)));

test('after 100 failed authentications the keys of an address are looked up at a bounded pace', async () => {
  expect(new Set(await failures(100, () => '203.0.113.1'))).toEqual(new Set([401]));
  const lookUp = jest.spyOn(http.db, 'auth');
  const answers = await flood('203.0.113.1', 600);
  const refused = answers.filter(({ statusCode }) => statusCode === 429);
  expect(lookUp.mock.calls.length).toBeLessThanOrEqual(600 - refused.length);
  lookUp.mockRestore();
  expect(refused.length).toBeGreaterThan(300);
  expect([refused[0]!.json().code, refused[0]!.headers['retry-after']]).toEqual(['too_many_failures', '1']);
});

test('a valid key that was not seen before is served where strangers have failed, also from IPv6', async () => {
  const most = { '203.0.113.5': 100, '127.0.0.1': 1_000, '2001:db8:0:1::1': 100 };
  for (const [address, unhindered] of Object.entries(most)) {
    await failures(unhindered + 5, () => address);
    const { body } = await http.call('POST', '/api/v1/admin/keys', { name: 'a', scopes: ['read'] });
    expect([address, (await ask(address, body.key)).statusCode]).toEqual([address, 200]);
  }
});

test('the addresses of an IPv6 /64 count as one', async () => {
  expect(new Set(await failures(100, (n) => `2001:db8:0:3::${n.toString(16)}`))).toEqual(new Set([401]));
  const answers = await Promise.all([flood('2001:db8:0:3:ffff::', 300), flood('2001:db8:0:3:fffe::', 300)]);
  expect(answers.flat().filter(({ statusCode }) => statusCode === 429).length).toBeGreaterThan(300);
  expect((await ask('2001:db8:0:2::', 'unknown')).statusCode).toBe(401);
});

test('in a flood keys that were accepted before, inference keys and public routes pass', async () => {
  const address = '203.0.113.4';
  expect((await ask(address, http.otherKey)).statusCode).toBe(200);
  await failures(100, () => address);
  const flooding = flood(address, 600);
  expect((await ask(address, http.otherKey)).statusCode).toBe(200);
  expect((await ask(address, 'rip_unknown')).statusCode).toBe(401);
  expect((await http.app.inject({ url: '/readyz', remoteAddress: address })).statusCode).toBe(200);
  expect((await ask(address, 'unknown', '/livez')).statusCode).toBe(200);
  await flooding;
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
