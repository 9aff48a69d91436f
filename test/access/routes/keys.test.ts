import { describe, expect, jest, test } from '@jest/globals';
import { buildApp } from '../../../src/platform/http/app.js';
import { httpOfFile, type Answer } from '../../platform/http/support.js';

const http = httpOfFile();
const base = '/api/v1/admin/keys';
const withKey = (key: string) => ({ authorization: `Bearer ${key}` });
const statusOf = async (key: string) =>
  (await http.call('GET', '/api/v1/online/sessions', undefined, withKey(key))).status;
const create = async (more: object = {}): Promise<{ key_id: string; key: string }> =>
  (await http.call('POST', base, { name: 'ci', scopes: ['read'], ...more })).body;
const find = async (id: string) =>
  (await http.call('GET', base)).body.data.find((each: { key_id: string }) => each.key_id === id);

/** Runs `work` when no process has the keys cached any more. */
async function afterCache<Result>(work: () => Promise<Result>): Promise<Result> {
  const { now } = performance;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 5_000);
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
}

describe('a new key', () => {
  test('is shown once and works at once, with its scopes in their order', async () => {
    const { status, body, headers } = await http.call('POST', base, {
      name: ' ci ',
      scopes: ['write', 'read', 'read'],
    });
    expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
    expect(body).toMatchObject({ org_id: 'default', name: 'ci', scopes: ['read', 'write'], last_used_at: null });
    expect(await statusOf(body.key)).toBe(200);
    const { key, ...record } = body;
    const found = await find(body.key_id);
    expect(found).toEqual({ ...record, last_used_at: found.last_used_at });
    expect((await http.call('GET', base)).raw.includes(key.slice(12))).toBe(false);
  });

  test('is in no stored response, also with an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const answers = [0, 1].map(() => http.call('POST', base, { name: 'a', scopes: ['read'] }, headers));
    const [first, second] = (await Promise.all(answers)).map(({ body }) => body.key as string);
    expect(first).not.toBe(second);
    const rows = await http.db.org('default', (tx) => tx.query('select key from idempotency_keys'));
    expect(rows).toEqual([]);
  });

  test.each([
    ['no scope', { scopes: [] }, '/scopes'],
    ['an unknown scope', { scopes: ['root'] }, '/scopes/0'],
    ['an expiry in the past', { expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    ['an empty name', { name: ' ' }, '/name'],
    ['an unknown field', { key: 'x' }, '/key'],
  ])('%s is 422 and names the field', async (_name, more, pointer) => {
    const { status, body } = await http.call('POST', base, { name: 'ci', scopes: ['read'], ...more });
    expect([status, body.errors[0].pointer]).toEqual([422, pointer]);
  });
});

test('a revoked key is refused after five seconds at most, and stays listed', async () => {
  const { key, key_id: id } = await create();
  expect(await statusOf(key)).toBe(200);
  expect((await http.call('DELETE', `${base}/${id}`)).status).toBe(204);
  expect(await afterCache(() => statusOf(key))).toBe(401);
  const { revoked_at: at } = await find(id);
  expect(at).toEqual(expect.any(String));
  expect((await http.call('DELETE', `${base}/${id}`)).status).toBe(204);
  expect((await find(id)).revoked_at).toBe(at);
});

test('another API process refuses a revoked key after five seconds at most', async () => {
  const another = await buildApp(http.deps);
  const { key, key_id: id } = await create();
  const ask = async () => (await another.inject({ url: '/api/v1/online/sessions', headers: withKey(key) })).statusCode;
  expect(await ask()).toBe(200);
  expect((await http.call('DELETE', `${base}/${id}`)).status).toBe(204);
  expect(await afterCache(ask)).toBe(401);
  await another.close();
});

describe('rotation', () => {
  const rotate = (id: string, body: object = {}): Promise<Answer> => http.call('POST', `${base}/${id}/rotate`, body);

  test('ends the old key at once by default', async () => {
    const old = await create();
    const { status, body } = await rotate(old.key_id);
    expect([status, body.name, body.scopes]).toEqual([201, 'ci', ['read']]);
    expect([await statusOf(old.key), await statusOf(body.key)]).toEqual([401, 200]);
    expect((await find(old.key_id)).replaced_by).toBe(body.key_id);
  });

  test('leaves the old key valid for the grace, and no longer than it was', async () => {
    const old = await create();
    await rotate(old.key_id, { grace_seconds: 600 });
    expect(await statusOf(old.key)).toBe(200);
    const ends = new Date((await find(old.key_id)).expires_at).getTime() - Date.now();
    expect(ends).toBeGreaterThan(500_000);
    expect(ends).toBeLessThanOrEqual(600_000);
    const expires = new Date(Date.now() + 60_000).toISOString();
    const short = await create({ expires_at: expires });
    await rotate(short.key_id, { grace_seconds: 600 });
    expect((await find(short.key_id)).expires_at).toBe(expires);
  });

  test('gives the new key the lifetime of the old one', async () => {
    const old = await create({ expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    const before = await find(old.key_id);
    const { body } = await rotate(old.key_id);
    const lifetime = (key: { created_at: string; expires_at: string }) =>
      new Date(key.expires_at).getTime() - new Date(key.created_at).getTime();
    expect(Math.abs(lifetime(body) - lifetime(before))).toBeLessThanOrEqual(1);
  });

  test('happens once to a key, and not to an ended one or to that of the setting', async () => {
    const old = await create();
    await rotate(old.key_id, { grace_seconds: 600 });
    const revoked = await create();
    await http.call('DELETE', `${base}/${revoked.key_id}`);
    const codes = await Promise.all(
      [old.key_id, revoked.key_id, 'bootstrap_default', 'key_nobody'].map(async (id) => {
        const { status, body } = await rotate(id);
        return [status, body.code];
      }),
    );
    expect(codes).toEqual([
      [409, 'key_replaced'],
      [409, 'key_ended'],
      [409, 'bootstrap_key'],
      [404, 'not_found'],
    ]);
  });
});

test('lists pages, newest first', async () => {
  const ids = [await create(), await create(), await create()].map(({ key_id: id }) => id);
  const first = (await http.call('GET', `${base}?limit=2`)).body;
  const second = (await http.call('GET', `${base}?limit=2&cursor=${first.next_cursor}`)).body;
  const listed = [...first.data, ...second.data].map((each: { key_id: string }) => each.key_id);
  expect(listed.slice(0, 3)).toEqual([...ids].reverse());
});

describe('organizations', () => {
  const orgs = '/api/v1/admin/orgs';
  const other = () => withKey(http.otherKey);

  test('an operator creates one, with its first key, and lists all', async () => {
    const { status, body } = await http.call('POST', orgs, { name: 'Acme' });
    expect([status, body]).toEqual([
      201,
      { org_id: expect.stringMatching(/^org_/), name: 'Acme', created_at: expect.any(String), deleted_at: null },
    ]);
    const of = `${base}?org_id=${body.org_id}`;
    const { body: key } = await http.call('POST', of, { name: 'first', scopes: ['read', 'write', 'admin'] });
    expect(key.org_id).toBe(body.org_id);
    const mine = await http.call('GET', base, undefined, withKey(key.key));
    expect(mine.body.data.map((each: { key_id: string }) => each.key_id)).toEqual([key.key_id]);
    expect((await http.call('GET', of)).body.data).toHaveLength(1);
    const listed = (await http.call('GET', orgs)).body.data.map((each: { org_id: string }) => each.org_id);
    expect(listed).toEqual(expect.arrayContaining([body.org_id, 'default', 'other']));
    expect((await http.call('DELETE', `${base}/${key.key_id}?org_id=${body.org_id}`)).status).toBe(204);
  });

  test('others see their own, create none, and find no other', async () => {
    const listed = (await http.call('GET', orgs, undefined, other())).body.data;
    expect(listed.map((each: { org_id: string }) => each.org_id)).toEqual(['other']);
    const created = await http.call('POST', orgs, { name: 'Acme' }, other());
    expect([created.status, created.body.code]).toEqual([403, 'not_operator']);
    for (const org of ['default', 'nobody']) {
      const { status } = await http.call('GET', `${base}?org_id=${org}`, undefined, other());
      expect([org, status]).toEqual([org, 404]);
    }
  });

  test('an operator finds no organization "nobody"', async () => {
    expect((await http.call('GET', `${base}?org_id=nobody`)).status).toBe(404);
    expect((await http.call('DELETE', `${base}/key_1?org_id=nobody`)).status).toBe(404);
  });

  test.each(['', '%00', "'", 'x'.repeat(101)])('"%s" is no id of an organization', async (org) => {
    for (const [method, path] of [
      ['GET', base],
      ['DELETE', `${base}/key_1`],
    ] as const) {
      const { status, body } = await http.call(method, `${path}?org_id=${org}`);
      expect([method, status, body.errors]).toEqual([method, 422, [expect.objectContaining({ pointer: '/org_id' })]]);
    }
  });
});

test('the key of the setting is not revoked: it would stay dead at the next start', async () => {
  const { status, body } = await http.call('DELETE', `${base}/bootstrap_default`);
  expect([status, body.code]).toEqual([409, 'bootstrap_key']);
  expect((await http.call('GET', base)).status).toBe(200);
});

test.each(['\u001b[2Jx', 'a\nb', 'a\u0000', '\u009b31mx', 'a\u007f'])('the name %j is 422', async (name) => {
  for (const path of [base, '/api/v1/admin/orgs']) {
    const { status, body } = await http.call('POST', path, { name, scopes: ['read'].slice(path === base ? 0 : 1) });
    expect([status, body.errors.some(({ pointer }: { pointer: string }) => pointer === '/name')]).toEqual([422, true]);
  }
});

test('no answer to a key is cached', async () => {
  const paths = [base, '/api/v1/webhooks/secret', '/api/v1/online/sessions', '/api/v1/admin/audit-log', '/unknown'];
  for (const path of paths) expect((await http.call('GET', path)).headers['cache-control']).toBe('no-store');
  const { body } = await http.call('POST', base, { name: 'a', scopes: ['read'] });
  const rotated = await http.call('POST', `${base}/${body.key_id}/rotate`, {});
  expect(rotated.headers['cache-control']).toBe('no-store');
});
