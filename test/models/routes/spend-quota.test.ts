import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { createProviders } from '../../../src/models/client/providers.js';
import type { Payer } from '../../../src/core/jobs/payer.js';
import { createBytesInFlight } from '../../../src/models/routes/bytes-in-flight.js';
import { DeploymentMeter } from '../../../src/models/routes/deployments/meter.js';
import { changePayer, createSpendCheck, readSpendToday } from '../../../src/access/store/spend-quota.js';
import { readQuotaRefused } from '../../../src/jobs/store/cost-budget.js';
import { deleteRows } from '../../../src/retention/store/delete.js';
import { connect, type Db } from '../../../src/platform/db/db.js';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { buildApp } from '../../../src/platform/http/app.js';
import { registerProxy } from '../../../src/models/routes/proxy.js';
import type { ProxyDeps } from '../../../src/models/routes/call.js';
import { policy, proxyOfFile, question } from './support.js';

// A quota of spend at two API servers that share nothing but Postgres: no call is sent once what
// was recorded has reached it, so it is exceeded by calls in flight at most.

const answerUsd = 1_000 * 0.15e-6 + 1_000 * 0.6e-6;
const proxy = proxyOfFile();
let db: Db;
let otherUrl: string;
let close: () => Promise<void>;
/** While true, the spend cannot be read. */
let isUnreadable = false;

beforeAll(async () => {
  db = connect(proxy.http.databaseUrl, pino({ level: 'silent' }), 4);
  const check = createSpendCheck(db, () => undefined);
  const checkSpend = (payer: Payer) => (isUnreadable ? Promise.reject(new Error('unreadable')) : check(payer));
  const providers = createProviders({ OPENAI_BASE_URL: proxy.model.url, OPENAI_API_KEY: 'sk-1' }, { checkSpend });
  const other = await buildApp({
    ...proxy.http.deps,
    db,
    registerInference: (app) =>
      registerProxy(app, {
        db,
        notifications: proxy.http.deps.notifications,
        providers,
        tracing: null,
        log: app.log as ProxyDeps['log'],
        bytes: createBytesInFlight(64 * 1024 * 1024),
        secretKey: proxy.http.deps.secretKey,
      }),
  });
  otherUrl = await other.listen({ port: 0, host: '127.0.0.1' });
  close = async () => {
    await other.close();
    await providers.close();
    await db.close();
  };
});
afterAll(() => close());
beforeEach(() => {
  isUnreadable = false;
  proxy.model.reply(() => ({ usage: { prompt_tokens: 1_000, completion_tokens: 1_000 } }));
});

interface Owner {
  org: string;
  key: string;
}

/** A new organization with a quota, as a limit of its own or of its key. */
async function newOwner(usd: number): Promise<Owner> {
  const { org_id: org } = (await proxy.http.call('POST', '/api/v1/admin/orgs', { name: 'limited' })).body;
  const query = `?org_id=${org}`;
  await proxy.http.call('PUT', `/api/v1/admin/limits${query}`, { spend_usd_per_day: usd });
  const { body } = await proxy.http.call('POST', `/api/v1/admin/keys${query}`, { name: 'a', scopes: ['infer'] });
  return { org, key: body.key };
}

const session = ({ org }: Owner, model = policy.model) =>
  proxy.newSession({ orgId: org, spec: { policy: { ...policy, model } } });
const ask = (at: string, job: JobRef, { key }: Owner, body: object = question) =>
  fetch(`${at}/api/gepa/v1/${job.jobId}/${randomUUID()}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
const codeOf = async (answer: Response) => ((await answer.json()) as { error: { code: string } }).error.code;
const spent = (org: string) => proxy.http.db.org(org, (tx) => readSpendToday(tx, { orgId: org, subject: org }));
const servers = () => [proxy.url, otherUrl];

test('what one server spends counts at the other; then both refuse until the next UTC day', async () => {
  const owner = await newOwner(1.5 * answerUsd);
  const job = await session(owner);
  for (const at of servers()) expect((await ask(at, job, owner)).status).toBe(200);
  for (const at of servers()) {
    for (const stream of [false, true]) {
      const refused = await ask(at, job, owner, { ...question, stream });
      expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([429, 'false']);
      expect(await refused.json()).toMatchObject({ error: { code: 'spend_quota_exceeded', type: 'rate_limit_error' } });
      const seconds = Number(refused.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(86_400);
    }
  }
  expect(proxy.model.requests).toHaveLength(2);
  expect(await spent(owner.org)).toBeCloseTo(2 * answerUsd, 12);
});

test('concurrent calls exceed it by what was in flight at most', async () => {
  const owner = await newOwner(4.5 * answerUsd);
  const job = await session(owner);
  const inFlight = 3;
  const callers = Array.from({ length: inFlight }, async (_, n) => {
    for (;;) if ((await ask(servers()[n % 2]!, job, owner)).status !== 200) return;
  });
  await Promise.all(callers);
  expect(proxy.model.requests.length).toBeGreaterThanOrEqual(5);
  expect(proxy.model.requests.length).toBeLessThanOrEqual(5 + inFlight - 1);
});

test('the refusal of a rollout’s call is on record before its container knows', async () => {
  const owner = await newOwner(0);
  const job = await session(owner);
  const rollout = await proxy.newRollout(job, 0, 0);
  const url = `${otherUrl}/api/gepa/v1/${job.jobId}/${rollout}/chat/completions`;
  const headers = { authorization: `Bearer ${proxy.inferenceKey(job, rollout)}`, 'content-type': 'application/json' };
  const refused = await fetch(url, { method: 'POST', headers, body: JSON.stringify(question) });
  expect(refused.status).toBe(429);
  const known = await proxy.http.db.org(owner.org, (tx) => readQuotaRefused(tx, [job.jobId]));
  expect(known).toEqual(new Map([[job.jobId, new Set([rollout])]]));
});

test('a day later it is open again', async () => {
  const owner = await newOwner(0.5 * answerUsd);
  const job = await session(owner);
  await ask(proxy.url, job, owner);
  expect((await ask(proxy.url, job, owner)).status).toBe(429);
  await proxy.http.db.org(owner.org, (tx) => tx.query('update job_usage set day = day - 1'));
  expect((await ask(proxy.url, job, owner)).status).toBe(200);
});

test('a deleted job has still spent', async () => {
  const owner = await newOwner(0.5 * answerUsd);
  const job = await session(owner);
  await ask(proxy.url, job, owner);
  await deleteRows(proxy.http.db, job);
  expect(await spent(owner.org)).toBeCloseTo(answerUsd, 12);
  expect((await ask(proxy.url, await session(owner), owner)).status).toBe(429);
});

describe('of a key', () => {
  test('holds for the jobs that it created, whoever calls', async () => {
    const owner = await newOwner(1);
    const keyId = 'key_limited';
    await proxy.http.db.org(owner.org, (tx) =>
      tx.query('insert into limits (org_id, subject, spend_usd_per_day) values ($1, $2, $3)', [
        owner.org,
        keyId,
        0.5 * answerUsd,
      ]),
    );
    const [own, foreign] = [await session(owner), await session(owner)];
    await proxy.http.db.org(owner.org, (tx) =>
      tx.query('update jobs set key_id = $2 where id = $1', [own.jobId, keyId]),
    );
    const statuses: number[] = [];
    for (const job of [own, own, foreign, foreign]) statuses.push((await ask(otherUrl, job, owner)).status);
    expect(statuses).toEqual([200, 429, 200, 200]);
  });

  test('holds for its own traffic at a session of another key, also a completed one, and counts once', async () => {
    const owner = await newOwner(10);
    const [limited] = await proxy.http.db.org(owner.org, (tx) => tx.query<{ id: string }>('select id from api_keys'));
    const of = { orgId: owner.org, subject: limited!.id };
    await proxy.http.db.org(owner.org, (tx) =>
      tx.query('insert into limits (org_id, subject, spend_usd_per_day) values ($1, $2, $3)', [
        owner.org,
        limited!.id,
        1.5 * answerUsd,
      ]),
    );
    const job = await session(owner);
    await proxy.http.db.org(owner.org, (tx) =>
      tx.query("update jobs set key_id = 'key_other' where id = $1", [job.jobId]),
    );
    const statuses: number[] = [];
    for (const at of [...servers(), otherUrl]) statuses.push((await ask(at, job, owner)).status);
    await proxy.setStatus(job, 'completed');
    statuses.push((await ask(otherUrl, job, owner, { ...question, model: 'gpt-4' })).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    const spentBy = (subject: string) =>
      proxy.http.db.org(owner.org, (tx) => readSpendToday(tx, { orgId: owner.org, subject }));
    expect(await spentBy(of.subject)).toBeCloseTo(2 * answerUsd, 12);
    expect(await spentBy('key_other')).toBeCloseTo(2 * answerUsd, 12);
    expect(await spent(owner.org)).toBeCloseTo(2 * answerUsd, 12);
  });

  test('pays for what a run spends once it started the run', async () => {
    const owner = await newOwner(10);
    const job = await session(owner);
    await proxy.http.db.org(owner.org, (tx) =>
      tx.query("update jobs set key_id = 'key_creator' where id = $1", [job.jobId]),
    );
    const spentBy = (subject: string) =>
      proxy.http.db.org(owner.org, (tx) => readSpendToday(tx, { orgId: owner.org, subject }));
    const rollouts = [await proxy.newRollout(job, 0, 0), await proxy.newRollout(job, 1, 0)];
    const askIn = (rollout: string) =>
      proxy.post(job, `/${rollout}`, question, { authorization: `Bearer ${proxy.inferenceKey(job, rollout)}` });
    expect((await askIn(rollouts[0]!)).status).toBe(200);
    await proxy.http.db.org(owner.org, (tx) => changePayer(tx, job, 'key_extender'));
    expect((await askIn(rollouts[1]!)).status).toBe(200);
    expect(await spentBy('key_creator')).toBeCloseTo(answerUsd, 12);
    expect(await spentBy('key_extender')).toBeCloseTo(answerUsd, 12);
    expect(await spent(owner.org)).toBeCloseTo(2 * answerUsd, 12);
  });

  test('counts its calls of deployments', async () => {
    const { org } = await newOwner(1);
    const meter = new DeploymentMeter({ db, log: pino({ level: 'silent' }) });
    const request = {
      model: null,
      outcome: 'ok',
      latencyMs: 1,
      promptTokens: 1,
      completionTokens: 1,
      costUsd: 0.25,
    } as const;
    for (const keyId of ['key_a', 'key_a', 'key_b'])
      await meter.count({ orgId: org, keyId, deploymentId: 'dep_1', answerId: 'a', correlationId: null }, request);
    await meter.close();
    const of = (subject: string) => db.org(org, (tx) => readSpendToday(tx, { orgId: org, subject }));
    expect([await of('key_a'), await of('key_b'), await of(org)]).toEqual([0.5, 0.25, 0.75]);
  });
});

describe('fails closed', () => {
  test('where the spend cannot be read', async () => {
    const owner = await newOwner(1);
    const job = await session(owner);
    isUnreadable = true;
    const refused = await ask(otherUrl, job, owner);
    expect([refused.status, await codeOf(refused)]).toEqual([503, 'spend_unknown']);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(proxy.model.requests).toEqual([]);
  });

  test('for a model without a known price, unless no quota holds', async () => {
    const owner = await newOwner(1);
    const refused = await ask(otherUrl, await session(owner, 'no-such-model'), owner);
    expect([refused.status, await codeOf(refused)]).toEqual([400, 'cost_not_bounded']);
    expect(proxy.model.requests).toEqual([]);
    const free = await proxy.newSession({ spec: { policy: { ...policy, model: 'no-such-model' } } });
    expect((await proxy.post(free, '')).status).toBe(200);
  });
});

test('a call without a quota reads no spend for five seconds', async () => {
  let reads = 0;
  const orgApart: Db['orgApart'] = (orgId, work) => ((reads += 1), db.orgApart(orgId, work));
  const check = createSpendCheck({ orgApart }, () => undefined);
  for (let n = 0; n < 3; n += 1)
    expect(await check({ orgId: 'default', keyId: 'key_1' })).toEqual({ isLimited: false, spent: null });
  expect(reads).toBe(1);
});
