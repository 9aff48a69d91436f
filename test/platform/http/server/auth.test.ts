import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createLoginTokens } from '../../../../src/platform/http/dashboard/login-tokens.js';
import { publicRoutes } from '../../../../src/platform/http/server/auth.js';
import { generateKey, hashKey } from '../../../../src/access/store/keys.js';
import { until } from '../../../support/until.js';
import { createSession, startHttp, type TestHttp } from '../support.js';

let http: TestHttp;
const routes: { method: string; url: string }[] = [];

beforeAll(async () => {
  const loginTokens = createLoginTokens('rk_x');
  // Without an open link the route refuses all.
  loginTokens.issue();
  http = await startHttp({
    loginTokens,
    registerInference: (app) => {
      app.post(
        '/api/gepa/v1/:session_id/:correlation_id/chat/completions',
        { config: { access: 'inference' } },
        (request) => request.caller,
      );
      app.post('/api/gepa/v1/:session_id/chat/completions', { config: { access: 'inference' } }, (r) => r.caller);
      app.post('/api/gepa/v1/:session_id/:correlation_id/other', (request) => request.caller);
    },
  });
  for (const [url, { methods }] of http.app.routeTable) {
    for (const method of methods) routes.push({ method, url });
  }
});
afterAll(() => http.close());

async function keyOf(columns: string, values: unknown[]): Promise<string> {
  const key = generateKey();
  await http.db.org('default', (tx) =>
    tx.query(
      `insert into api_keys (id, org_id, name, key_hash, scopes, ${columns}) values ($1, 'default', 'test', $2, '{read}', $3)`,
      [key.slice(3, 11), hashKey(http.deps.secretKey, key), ...values],
    ),
  );
  return key;
}

/** Runs `work` while the monotonic clock is ahead, and the wall clock an hour back. */
async function later<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  const { now } = performance;
  const hourBefore = Date.now() - 3_600_000;
  const clocks = [
    jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + ms),
    jest.spyOn(Date, 'now').mockReturnValue(hourBefore),
  ];
  try {
    return await work();
  } finally {
    for (const clock of clocks) clock.mockRestore();
  }
}

const ask = (headers: Record<string, string>) =>
  http.app.inject({ method: 'GET', url: '/api/v1/online/sessions', headers });

describe('deny by default', () => {
  test('every route but the public ones is 401 without a key, and so is an unknown path', async () => {
    expect(routes.length).toBeGreaterThan(20);
    const urls = [...routes, { method: 'GET', url: '/no/such/path' }, { method: 'DELETE', url: '/livez/x' }];
    const open: string[] = [];
    for (const { method, url } of urls) {
      const answer = await http.app.inject({ method: method as 'GET', url: url.replaceAll(/:\w+|\*/g, 'x') });
      if (answer.statusCode !== 401) open.push(url);
      else expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    }
    expect(new Set(open.filter((url) => !url.startsWith('/docs/')))).toEqual(new Set(publicRoutes));
  });

  test('the list of routes includes every route of the contract', () => {
    const known = new Set(routes.map(({ method, url }) => `${method} ${url}`));
    for (const route of [
      'POST /api/v1/online/sessions',
      'GET /api/v1/online/sessions/:session_id/events',
      'PATCH /api/v1/offline/jobs/:job_id',
      'GET /api/v1/offline/jobs/:job_id/traces',
      'GET /api/v1/offline/jobs/:job_id/events/stream',
      'GET /api/v1/providers',
    ]) {
      expect(known).toContain(route);
    }
  });
});

describe('accepted keys', () => {
  test('Bearer, X-API-Key, or both with the same key', async () => {
    const { key } = http;
    expect((await ask({ authorization: `Bearer ${key}` })).statusCode).toBe(200);
    expect((await ask({ authorization: `bearer ${key}` })).statusCode).toBe(200);
    expect((await ask({ 'x-api-key': key })).statusCode).toBe(200);
    expect((await ask({ authorization: `Bearer ${key}`, 'x-api-key': key })).statusCode).toBe(200);
  });

  test('two different keys are refused even if each is valid', async () => {
    const answer = await ask({ authorization: `Bearer ${http.key}`, 'x-api-key': http.otherKey });
    expect(answer.statusCode).toBe(401);
    expect(answer.json().code).toBe('unauthorized');
  });

  test.each([
    ['another scheme', { authorization: 'Basic abc' }],
    ['an empty Bearer', { authorization: 'Bearer ' }],
    ['an unknown key', { authorization: 'Bearer nobody-knows-this-key' }],
    ['an empty X-API-Key', { 'x-api-key': '' }],
  ])('%s is 401', async (_name, headers) => {
    const answer = await ask(headers);
    expect(answer.statusCode).toBe(401);
    expect(answer.json()).toMatchObject({ status: 401, code: 'unauthorized', error: { type: 'authentication_error' } });
  });

  test('refuses an rk_ key with a wrong checksum without a database query', async () => {
    const key = await keyOf('expires_at', [null]);
    expect((await ask({ 'x-api-key': key })).statusCode).toBe(200);
    const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    const asked = countCalls(http.db, 'auth');
    const answer = await ask({ 'x-api-key': wrong });
    expect(answer.statusCode).toBe(401);
    expect(answer.json().code).toBe('unauthorized');
    expect(asked()).toBe(0);
  });

  test('refuses an expired and a revoked key', async () => {
    expect((await ask({ 'x-api-key': await keyOf('expires_at', [new Date(Date.now() - 1000)]) })).statusCode).toBe(401);
    expect((await ask({ 'x-api-key': await keyOf('revoked_at', [new Date()]) })).statusCode).toBe(401);
    expect((await ask({ 'x-api-key': await keyOf('expires_at', [new Date(Date.now() + 60_000)]) })).statusCode).toBe(
      200,
    );
  });

  test('refuses a key revoked during use within five seconds', async () => {
    const key = await keyOf('expires_at', [null]);
    expect((await ask({ 'x-api-key': key })).statusCode).toBe(200);
    await http.db.org('default', (tx) =>
      tx.query('update api_keys set revoked_at = now() where id = $1', [key.slice(3, 11)]),
    );
    expect(await later(5_000, async () => (await ask({ 'x-api-key': key })).statusCode)).toBe(401);
  });

  test('counts the five seconds from the start of the look-up', async () => {
    const key = await keyOf('expires_at', [null]);
    const lookUp = http.db.auth.bind(http.db);
    const { now } = performance;
    let ahead = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + ahead);
    // The key is revoked while a slow answer says that it is valid.
    http.db.auth = async (...args) => {
      const found = await lookUp(...args);
      ahead = 5_000;
      return found;
    };
    expect((await ask({ 'x-api-key': key })).statusCode).toBe(200);
    http.db.auth = lookUp;
    await http.db.org('default', (tx) =>
      tx.query('update api_keys set revoked_at = now() where id = $1', [key.slice(3, 11)]),
    );
    expect((await ask({ 'x-api-key': key })).statusCode).toBe(401);
    clock.mockRestore();
  });

  test('looks up an unknown key at most once a second', async () => {
    const unknown = generateKey();
    const asked = countCalls(http.db, 'auth');
    const refused = async () => expect((await ask({ 'x-api-key': unknown })).statusCode).toBe(401);
    await refused();
    await refused();
    expect(asked()).toBe(1);
    await later(1_000, refused);
    expect(asked()).toBe(2);
  });

  test('records the last use, and stores only the hash', async () => {
    const key = await keyOf('expires_at', [null]);
    await ask({ 'x-api-key': key });
    const row = await until('the use is noted', async () => {
      const [found] = await http.db.org('default', (tx) =>
        tx.query('select row_to_json(k)::text as text, last_used_at from api_keys k where id = $1', [key.slice(3, 11)]),
      );
      return found?.['last_used_at'] ? found : null;
    });
    expect(row['text']).not.toContain(key.slice(12, 40));
  });
});

describe('the organization', () => {
  test('hides another organization’s session by 404 and in the list', async () => {
    const id = await createSession(http);
    const headers = { authorization: `Bearer ${http.otherKey}` };
    const base = `/api/v1/online/sessions/${id}`;
    for (const path of ['', '/prompt', '/events', '/results', '/history', '/traces', '/traces/x']) {
      expect((await http.call('GET', base + path, undefined, headers)).status).toBe(404);
    }
    for (const path of ['/pause', '/resume', '/cancel']) {
      expect((await http.call('POST', base + path, {}, headers)).status).toBe(404);
    }
    expect((await http.call('POST', `${base}/reward`, { reward: 1 }, headers)).status).toBe(404);
    expect((await http.call('PATCH', base, { state: 'paused' }, headers)).status).toBe(404);
    expect((await http.call('PATCH', `/api/v1/offline/jobs/${id}`, { state: 'paused' }, headers)).status).toBe(404);
    expect((await http.call('GET', '/api/v1/online/sessions', undefined, headers)).body.data).toEqual([]);
    expect((await http.call('GET', '/api/v1/online/sessions')).body.data).toHaveLength(1);
    expect(http.commander.sent).toEqual([]);
  });
});

describe("a job's inference key", () => {
  const url = '/api/gepa/v1/ses_1/cor_1/chat/completions';
  const post = (path: string, key: string) =>
    http.app.inject({ method: 'POST', url: path, headers: { authorization: `Bearer ${key}` } });

  test('opens the inference path of its own rollout, and nothing else', async () => {
    const answer = await post(url, 'rip_ses_1_cor_1');
    expect(answer.json()).toEqual({ orgId: 'default', keyId: null });
    expect((await post('/api/gepa/v1/ses_1/cor_2/chat/completions', 'rip_ses_1_cor_1')).statusCode).toBe(401);
    expect((await post('/api/gepa/v1/ses_1/chat/completions', 'rip_ses_1_cor_1')).statusCode).toBe(401);
    expect((await post('/api/gepa/v1/ses_1/cor_1/other', 'rip_ses_1_cor_1')).statusCode).toBe(401);
    expect((await ask({ authorization: 'Bearer rip_ses_1_cor_1' })).statusCode).toBe(401);
  });

  test('an API key opens it, too, and a refusal has the form of OpenAI', async () => {
    expect((await post(url, http.key)).json()).toMatchObject({ orgId: 'default' });
    const refused = await post(url, 'rip_other');
    expect(refused.json()).toEqual({ error: expect.objectContaining({ type: 'authentication_error', param: null }) });
  });
});

/** Counts the calls of a method from now on. */
function countCalls<Name extends 'auth'>(db: TestHttp['db'], name: Name): () => number {
  let calls = 0;
  const original = db[name].bind(db);
  db[name] = ((...args: Parameters<typeof original>) => {
    calls += 1;
    return original(...args);
  }) as (typeof db)[Name];
  return () => calls;
}
