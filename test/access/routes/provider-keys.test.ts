import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { createProviders, type Providers } from '../../../src/models/client/providers.js';
import { createProviderKeys } from '../../../src/access/store/provider-keys.js';
import { startFakeModel, type FakeModel } from '../../support/fakes/model.js';
import { httpOfFile, sessionRequest, type TestHttp } from '../../platform/http/support.js';

const base = '/api/v1/admin/provider-keys';
const http: TestHttp = httpOfFile({
  checkProvider: (name, own) => providers.check(name, own),
  listProviders: (own) => providers.list(own),
});
let model: FakeModel;
let providers: Providers;

beforeAll(async () => {
  model = await startFakeModel();
  const env = { OPENAI_API_KEY: 'sk-service', OPENAI_BASE_URL: model.url, RATCHET_PROVIDERS: 'void' };
  providers = createProviders(env, { readOwnKey: createProviderKeys(http.db, http.deps.secretKey) });
});
afterAll(async () => {
  await providers.close();
  await model.close();
});
beforeEach(() => void model.requests.splice(0));

const signal = new AbortController().signal;
const set = (provider: string, key: string, headers = {}) =>
  http.call('PUT', `${base}/${provider}`, { api_key: key }, headers);
const asOther = () => ({ authorization: `Bearer ${http.otherKey}` });

/** The key that a call of an organization sends. */
async function keyOf(orgId: string): Promise<string | undefined> {
  const answer = await providers.forPayer({ orgId, keyId: null }).send('openai', { model: 'm', messages: [] }, signal);
  await answer.read();
  return model.requests.at(-1)!.headers['authorization'];
}

let ahead = 0;
beforeAll(() => {
  const { now } = performance;
  jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + ahead);
});
afterAll(() => void jest.restoreAllMocks());

/** Runs `work` when no process has the keys cached any more. */
async function afterCache<Result>(work: () => Promise<Result>): Promise<Result> {
  ahead += 5_000;
  return work();
}

test("an organization's key comes before the service's, for its calls only, until it is deleted", async () => {
  expect(await keyOf('default')).toBe('Bearer sk-service');
  const { status, body } = await set('openai', 'sk-mine');
  expect([status, body]).toEqual([200, { provider: 'openai', set_at: expect.any(String) }]);
  expect(await afterCache(() => keyOf('default'))).toBe('Bearer sk-mine');
  expect(await keyOf('other')).toBe('Bearer sk-service');
  await set('openai', 'sk-next');
  expect(await afterCache(() => keyOf('default'))).toBe('Bearer sk-next');
  expect((await http.call('DELETE', `${base}/openai`, undefined, asOther())).status).toBe(404);
  expect((await http.call('DELETE', `${base}/openai`)).status).toBe(204);
  expect((await http.call('DELETE', `${base}/openai`)).status).toBe(404);
  expect(await afterCache(() => keyOf('default'))).toBe('Bearer sk-service');
});

test('a key is never returned, and is stored encrypted', async () => {
  const secret = 'sk-secret-of-the-organization';
  const answers = [
    await set('openai', secret),
    await http.call('GET', base),
    await http.call('GET', '/api/v1/providers'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const { raw } of answers) expect(raw.includes(secret)).toBe(false);
  const superuser = new pg.Client(http.databaseUrl);
  await superuser.connect();
  const { rows } = await superuser.query<{ ciphertext: Buffer }>('select ciphertext from provider_keys');
  await superuser.end();
  expect(rows.map(({ ciphertext }) => ciphertext.includes(secret))).toEqual([false]);
});

test("another organization cannot open the sealed key, and its calls do not use the service's", async () => {
  await set('openai', 'sk-mine');
  const superuser = new pg.Client(http.databaseUrl);
  await superuser.connect();
  await superuser.query(
    `insert into provider_keys select 'other', provider, ciphertext from provider_keys where org_id = 'default'`,
  );
  await expect(afterCache(() => keyOf('other'))).rejects.toMatchObject({ code: 'upstream_unreachable' });
  expect(model.requests).toEqual([]);
  await superuser.query(`delete from provider_keys where org_id = 'other'`);
  await superuser.end();
  expect(await afterCache(() => keyOf('other'))).toBe('Bearer sk-service');
});

test('an answer that quotes the refused key shows none', async () => {
  await set('openai', 'sk-refused');
  model.reply(() => ({ status: 401, raw: '{"error":{"message":"Incorrect API key: sk-refused"}}' }));
  const answer = await afterCache(() =>
    providers.forPayer({ orgId: 'default', keyId: null }).send('openai', { model: 'm', messages: [] }, signal),
  );
  const text = String(await answer.read());
  expect([answer.status, text.includes('sk-refused')]).toEqual([401, false]);
  model.reply(() => ({}));
});

describe('a provider without a key of the service', () => {
  const groq = { ...sessionRequest, policy: { provider: 'groq', model: 'm' } };
  const create = (headers = {}) => http.call('POST', '/api/v1/online/sessions', { policy_optimization: groq }, headers);
  const isUsable = async (headers = {}) => {
    const { body } = await http.call('GET', '/api/v1/providers', undefined, headers);
    return body.providers.find(({ name }: { name: string }) => name === 'groq').usable;
  };

  test('is usable at once for the organization that sets one', async () => {
    expect([(await create()).status, await isUsable()]).toEqual([422, false]);
    await set('groq', 'gsk-mine');
    expect([(await create()).status, await isUsable()]).toEqual([201, true]);
    expect([(await create(asOther())).status, await isUsable(asOther())]).toEqual([422, false]);
  });

  test('is not asked without a key, and a look-up that fails is no call with another key', async () => {
    const send = (orgId: string) =>
      providers.forPayer({ orgId, keyId: null }).send('groq', { model: 'm', messages: [] }, signal);
    await expect(send('other')).rejects.toMatchObject({ code: 'provider_not_usable' });
    const service = { OPENAI_API_KEY: 'sk-service', OPENAI_BASE_URL: model.url };
    const broken = createProviders(service, { readOwnKey: () => Promise.reject(new Error('database')) });
    const call = broken
      .forPayer({ orgId: 'default', keyId: null })
      .send('openai', { model: 'm', messages: [] }, signal);
    await expect(call).rejects.toMatchObject({ code: 'upstream_unreachable' });
    expect(model.requests).toEqual([]);
  });
});

test.each([
  ['local', 'key', 404],
  ['nobody', 'key', 404],
  ['void', 'key', 404],
  ['openai', 'two words', 422],
  ['openai', '', 422],
])('the key of %s as %j is %i', async (provider, key, status) => {
  expect((await set(provider, key)).status).toBe(status);
});
