import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { buildApp } from '../../../../src/platform/http/app.js';
import type { App } from '../../../../src/platform/http/deps.js';
import { connect, type Db } from '../../../../src/platform/db/db.js';
import { httpOfFile } from '../support.js';

// Two API servers that share nothing but Postgres. In a minute they admit no more than the limit,
// and at most an eighth less for each other server.

const http = httpOfFile();
const sessions = '/api/v1/online/sessions';
let db: Db;
let other: App;
beforeAll(async () => {
  db = connect(http.databaseUrl, pino({ level: 'silent' }), 4);
  other = await buildApp({ ...http.deps, db });
});
afterAll(async () => {
  await other.close();
  await db.close();
});

interface Key {
  key: string;
  key_id: string;
}

async function newKey(org = 'default'): Promise<Key> {
  const request = { name: 'a', scopes: ['read', 'infer'] };
  return (await http.call('POST', `/api/v1/admin/keys?org_id=${org}`, request)).body;
}
const setLimit = (path: string, limit: number | null) =>
  http.call('PUT', `/api/v1/admin/${path}`, { requests_per_minute: limit });
async function limitedKey(limit: number): Promise<Key> {
  const key = await newKey();
  expect((await setLimit(`keys/${key.key_id}/limits`, limit)).status).toBe(200);
  return key;
}

const ask = (app: App, { key }: Key, url = sessions) => app.inject({ url, headers: { 'x-api-key': key } });
async function askOften(app: App, key: Key, times: number): Promise<number[]> {
  return (await Promise.all(Array.from({ length: times }, () => ask(app, key)))).map(({ statusCode }) => statusCode);
}
const countOf = (codes: number[], code: number) => codes.filter((each) => each === code).length;

/** Runs `work` until a run begins and ends in one minute of Postgres. */
async function inOneMinute<Result>(work: () => Promise<Result>): Promise<Result> {
  const minute = async () =>
    (await http.db.org('default', (tx) => tx.query('select extract(minute from clock_timestamp())::int as m')))[0]![
      'm'
    ];
  for (;;) {
    const before: unknown = await minute();
    const result = await work();
    if ((await minute()) === before) return result;
  }
}

test('two servers admit no more than the limit together, and all of it where both are asked', async () => {
  const codes = await inOneMinute(async () => {
    const key = await limitedKey(40);
    return (await Promise.all([askOften(http.app, key, 40), askOften(other, key, 40)])).flat();
  });
  expect(countOf(codes, 200)).toBe(40);
  expect(countOf(codes, 429)).toBe(40);
});

test('an idle server keeps at most an eighth of the limit from the other', async () => {
  const codes = await inOneMinute(async () => {
    const key = await limitedKey(80);
    return [...(await askOften(other, key, 1)), ...(await askOften(http.app, key, 90))];
  });
  expect(countOf(codes, 200)).toBeGreaterThanOrEqual(80 - 80 / 8 + 1);
  expect(countOf(codes, 200)).toBeLessThanOrEqual(80);
});

test('answers name the policy and what is left; a refusal names the limit and when to come back', async () => {
  const [first, second, refused] = await inOneMinute(async () => {
    const key = await limitedKey(2);
    return [await ask(http.app, key), await ask(other, key), await ask(other, key)] as const;
  });
  expect(first.headers).toMatchObject({ 'ratelimit-policy': '"key";q=2;w=60' });
  expect(String(first.headers['ratelimit'])).toMatch(/^"key";r=1;t=\d+$/);
  expect(String(second.headers['ratelimit'])).toMatch(/^"key";r=0;t=\d+$/);
  expect(refused.json()).toMatchObject({
    status: 429,
    code: 'rate_limit_exceeded',
    quota: 'requests_per_minute',
    of: 'key',
    limit: 2,
    error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  });
  const seconds = Number(refused.headers['retry-after']);
  expect(refused.headers['ratelimit']).toBe(`"key";r=0;t=${seconds}`);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
});

test('a new minute begins anew', async () => {
  const key = await limitedKey(1);
  await askOften(http.app, key, 2);
  await http.db.org('default', (tx) =>
    tx.query("update request_windows set starts_at = starts_at - interval '1 minute' where subject = $1", [key.key_id]),
  );
  const { now } = performance;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 60_000);
  expect((await ask(http.app, key)).statusCode).toBe(200);
  clock.mockRestore();
});

test('the limit of an organization holds for all its keys, beside that of a key', async () => {
  const { body } = await http.call('POST', '/api/v1/admin/orgs', { name: 'limited' });
  const of = `?org_id=${body.org_id}`;
  expect((await setLimit(`limits${of}`, 3)).status).toBe(200);
  const answers = await inOneMinute(async () => {
    await http.db.org(body.org_id, (tx) => tx.query('delete from request_windows'));
    const [one, two] = [await newKey(body.org_id), await newKey(body.org_id)];
    await setLimit(`keys/${one.key_id}/limits${of}`, 1);
    return [await ask(http.app, one), await ask(http.app, one), await ask(http.app, two)];
  });
  const [admitted, refused, theOther] = answers as [(typeof answers)[0], (typeof answers)[0], (typeof answers)[0]];
  expect(String(admitted!.headers['ratelimit-policy'])).toBe('"key";q=1;w=60, "organization";q=3;w=60');
  expect([refused!.statusCode, refused!.json().of]).toEqual([429, 'key']);
  expect([theOther!.statusCode, theOther!.headers['ratelimit-policy']]).toEqual([200, '"organization";q=3;w=60']);
});

test('a request without a limit asks Postgres for none, and its answer has no field', async () => {
  const key = await newKey();
  await ask(http.app, key);
  const statements = jest.spyOn(http.db, 'orgApart');
  const before = statements.mock.calls.length;
  const answer = await http.app.inject({ url: '/api/v1/nothing', headers: { 'x-api-key': key.key } });
  expect([answer.statusCode, answer.headers['ratelimit'], statements.mock.calls.length]).toEqual([
    404,
    undefined,
    before,
  ]);
});

test('a refusal on an inference path has OpenAI’s shape', async () => {
  const refused = await inOneMinute(async () => {
    const key = await limitedKey(1);
    await ask(http.app, key);
    return ask(http.app, key, '/api/gepa/v1/ses_1/chat/completions');
  });
  expect([refused.statusCode, Object.keys(refused.json())]).toEqual([429, ['error']]);
  expect(refused.headers['retry-after']).toEqual(expect.any(String));
});
