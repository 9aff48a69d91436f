import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { buildApp } from '../../../../src/platform/http/app.js';
import type { App } from '../../../../src/platform/http/deps.js';
import { callsInFlight } from '../../../../src/platform/http/server/limits.js';
import { SharedUses, type SharedLimit } from '../../../../src/platform/http/server/shared-limits.js';
import type { KeyRow } from '../../../../src/access/store/keys.js';
import { noLimits } from '../../../../src/access/store/limits.js';
import { connect, type Db } from '../../../../src/platform/db/db.js';
import { gate } from '../../../support/gate.js';
import { until } from '../../../support/until.js';
import { httpOfFile } from '../support.js';

// Calls in flight at two servers that share nothing but Postgres: never more than the limit, and no
// slot is lost, whether its call ends, its caller leaves or its process is killed.

const log = pino({ level: 'silent' });
/** Held calls of a route with the access of inference. */
let held = gate();
let inFlight = 0;
const registerInference = (app: App) =>
  void app.post('/api/gepa/v1/held/chat/completions', { config: { access: 'inference' } }, async () => {
    inFlight += 1;
    await held.opened;
    inFlight -= 1;
    return {};
  });
const http = httpOfFile({ registerInference });
let db: Db;
let other: App;
let urls: string[];
beforeAll(async () => {
  db = connect(http.databaseUrl, log, 4);
  other = await buildApp({ ...http.deps, db });
  urls = [await http.listen(), await other.listen({ port: 0, host: '127.0.0.1' })];
});
afterAll(async () => {
  held.open();
  await other.close();
  await db.close();
});

async function limitedKey(limit: number): Promise<{ key: string; key_id: string }> {
  const { body } = await http.call('POST', '/api/v1/admin/keys', { name: 'a', scopes: ['read', 'infer'] });
  await http.call('PUT', `/api/v1/admin/keys/${body.key_id}/limits`, { calls_in_flight: limit });
  return body;
}
const ask = (at: number, key: string, more: RequestInit = {}) =>
  fetch(`${urls[at]}/api/gepa/v1/held/chat/completions`, { method: 'POST', headers: { 'x-api-key': key }, ...more });

test('two servers admit no more calls than the limit together; an ended call makes room', async () => {
  held = gate();
  const { key } = await limitedKey(6);
  const refused: Response[] = [];
  const calls = Array.from({ length: 20 }, async (_, n) => {
    const answer = await ask(n % 2, key);
    if (answer.status === 429) refused.push(answer);
  });
  await until('the rest is refused', () => inFlight === 6 && refused.length === 14);
  held.open();
  await Promise.all(calls);
  expect(await refused[0]!.json()).toMatchObject({ error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' } });
  expect(Object.fromEntries(refused[0]!.headers)).toMatchObject({
    'retry-after': '1',
    ratelimit: '"key-calls";r=0',
    'ratelimit-policy': '"key-calls";q=6;qu="concurrent-requests"',
  });
  for (const at of [0, 1]) await until('there is room', async () => (await ask(at, key)).status === 200);
});

test('other routes have no such limit', async () => {
  const { key } = await limitedKey(1);
  const answer = await http.app.inject({ url: '/api/v1/online/sessions', headers: { 'x-api-key': key } });
  expect([answer.statusCode, answer.headers['ratelimit']]).toEqual([200, undefined]);
});

test('a caller that leaves gives its slot back', async () => {
  held = gate();
  const { key } = await limitedKey(1);
  const leaving = new AbortController();
  const call = ask(0, key, { signal: leaving.signal }).catch(() => null);
  await until('the call is in flight', () => inFlight === 1);
  expect((await ask(0, key)).status).toBe(429);
  leaving.abort();
  await call;
  held.open();
  await until('the slot is free', async () => (await ask(0, key)).status === 200);
});

const keyOf = (limit: number): KeyRow => {
  const id = `key_${randomUUID()}`;
  return { id, orgId: 'default', scopes: ['infer'], limits: [{ ...noLimits, subject: id, callsInFlight: limit }] };
};
const createCallSlots = (of: Pick<Db, 'orgBatch'>) => new SharedUses(callsInFlight(of), log);
const isFree = async (slots: SharedUses, key: KeyRow) => {
  const { exceeded, release } = await slots.take(key);
  release();
  return exceeded === null;
};

test('a process returns the slots that it does not use', async () => {
  const key = keyOf(16);
  const [one, two] = [createCallSlots(db), createCallSlots(db)];
  // One call takes two slots.
  const { release } = await one.take(key);
  const taken = await Promise.all(Array.from({ length: 15 }, () => two.take(key)));
  expect(taken.filter(({ exceeded }) => exceeded).length).toBeLessThanOrEqual(1);
  for (const each of taken) each.release();
  release();
  await until('all are free again', async () => {
    const all = await Promise.all(Array.from({ length: 16 }, () => two.take(key)));
    for (const each of all) each.release();
    return all.every(({ exceeded }) => exceeded === null);
  });
  await Promise.all([one.close(), two.close()]);
});

test('a killed process loses its slots when they expire, and not before', async () => {
  const key = keyOf(1);
  const [killed, alive] = [createCallSlots(db), createCallSlots(db)];
  await killed.take(key);
  expect(await isFree(alive, key)).toBe(false);
  await db.org('default', (tx) =>
    tx.query(`update call_slots set expires_at = expires_at - interval '15 seconds' where subject = $1`, [key.id]),
  );
  await until('its slot is free', () => isFree(alive, key));
  await Promise.all([killed.close(), alive.close()]);
});

test('a stopped process returns its slots at once', async () => {
  const key = keyOf(1);
  const [stopped, alive] = [createCallSlots(db), createCallSlots(db)];
  (await stopped.take(key)).release();
  await stopped.close();
  expect(await isFree(alive, key)).toBe(true);
  await alive.close();
});

test('no call takes a slot that is being returned', async () => {
  const looks: number[] = [];
  let answers = gate();
  const take: SharedLimit['take'] = async ({ used, waiting }) => {
    looks.push(waiting);
    await answers.opened;
    return { granted: used + 2 * waiting, left: 1, secondsLeft: 15 };
  };
  const key = keyOf(4);
  const slots = new SharedUses({ name: 'callsInFlight', isHeld: true, take }, log);
  answers.open();
  (await slots.take(key)).release();
  answers = gate();
  await until('two slots are being returned', () => looks.length === 2);
  const call = slots.take(key);
  answers.open();
  expect((await call).exceeded).toBeNull();
  expect(looks).toEqual([1, 0, 1]);
  await slots.close();
});

test('a call that waits for Postgres in vain holds no slot', async () => {
  const key = keyOf(1);
  let isDown = true;
  const orgBatch: Db['orgBatch'] = (...batch) => (isDown ? Promise.reject(new Error('down')) : db.orgBatch(...batch));
  const slots = createCallSlots({ orgBatch });
  await expect(slots.take(key)).rejects.toThrow('down');
  isDown = false;
  expect(await isFree(slots, key)).toBe(true);
  await slots.close();
});

test('a process forgets what is not in use, and keeps a bounded number of portions', async () => {
  const take: SharedLimit['take'] = () => Promise.resolve({ granted: 1, left: 0, secondsLeft: 15 });
  const slots = new SharedUses({ name: 'callsInFlight', isHeld: true, take }, log);
  const first = keyOf(1);
  await slots.take(first);
  const unused = keyOf(1);
  (await slots.take(unused)).release();
  for (let n = 0; n < 20_010; n += 1) (await slots.take(keyOf(1))).release();
  const { holdings } = slots as unknown as { holdings: Map<string, unknown> };
  expect(holdings.size).toBeLessThanOrEqual(20_000);
  expect([first, unused].map(({ id }) => holdings.has(`default ${id}`))).toEqual([true, false]);
  await slots.close();
});

test('a use of a portion that is over gives nothing back to the next one', async () => {
  const portions = [
    { granted: 1, left: 0, secondsLeft: 0.001 },
    { granted: 1, left: 0, secondsLeft: 60 },
  ];
  const take: SharedLimit['take'] = () => Promise.resolve(portions.shift() ?? { granted: 0, left: 0, secondsLeft: 60 });
  const requests = new SharedUses({ name: 'requestsPerMinute', isHeld: false, take }, log);
  const key = keyOf(1);
  const of = { ...key, limits: [{ ...key.limits[0]!, requestsPerMinute: 1 }] };
  const first = await requests.take(of);
  const end = performance.now() + 2;
  await until('its time is over', () => performance.now() > end);
  expect((await requests.take(of)).exceeded).toBeNull();
  first.release();
  expect((await requests.take(of)).exceeded).not.toBeNull();
  await requests.close();
});
