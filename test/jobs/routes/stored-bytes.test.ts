import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { buildApp } from '../../../src/platform/http/app.js';
import type { App } from '../../../src/platform/http/deps.js';
import { readStoredBytes } from '../../../src/access/store/stored-bytes.js';
import { connect, type Db } from '../../../src/platform/db/db.js';
import { recordServiceCall } from '../../../src/jobs/store/service-calls.js';
import { evaluationRequest, finish, httpOfFile } from '../../platform/http/support.js';

// Bytes of an organization, stored through two API servers at once.

const http = httpOfFile();
let db: Db;
let other: App;
beforeAll(async () => {
  db = connect(http.databaseUrl, pino({ level: 'silent' }), 8);
  other = await buildApp({ ...http.deps, db });
});
afterAll(async () => {
  await other.close();
  await db.close();
});

interface Owner {
  org: string;
  key: string;
}

async function newOwner(limit: number | null): Promise<Owner> {
  const { org_id: org } = (await http.call('POST', '/api/v1/admin/orgs', { name: 'limited' })).body;
  const query = `?org_id=${org}`;
  const scopes = ['read', 'write'];
  const { body } = await http.call('POST', `/api/v1/admin/keys${query}`, { name: 'a', scopes });
  await http.call('PUT', `/api/v1/admin/limits${query}`, { stored_bytes: limit });
  return { org, key: body.key };
}

const send = (app: App, { key }: Owner, method: 'POST' | 'DELETE', url: string, payload?: object) =>
  app.inject({ method, url, headers: { 'x-api-key': key }, ...(payload && { payload }) });
const upload = (app: App, owner: Owner, rows: object[]) => send(app, owner, 'POST', '/api/v1/datasets', rows);
const createJob = async (owner: Owner): Promise<string> =>
  (await send(http.app, owner, 'POST', '/api/v1/offline/jobs', evaluationRequest)).json().job_id;
const stored = ({ org }: Owner) => http.db.org(org, (tx) => readStoredBytes(tx, org));

/** Records a model call of a job with an answer of so many characters. */
async function recordCall({ org: orgId }: Owner, jobId: string, id: string, chars: number): Promise<void> {
  const cost = { promptTokens: 1, completionTokens: 1, costUsd: 0, costSource: 'table', latencyMs: 1 };
  await http.db.org(orgId, (tx) =>
    recordServiceCall(
      tx,
      { orgId, jobId },
      {
        id,
        purpose: 'preflight',
        occurrence: 0,
        messages: [],
        policy: { provider: 'openai', model: 'm', params: {} },
        answer: { text: 'x'.repeat(chars), finishReason: null, ...cost },
      },
    ),
  );
}

test('concurrent uploads at two servers do not exceed the limit', async () => {
  const row = { text: 'x'.repeat(1_000) };
  const owner = await newOwner(3_500);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => upload(n % 2 ? http.app : other, owner, [{ ...row, n }])),
  );
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([...Array(3).fill(201), ...Array(5).fill(429)]);
  const refused = answers.find(({ statusCode }) => statusCode === 429)!;
  expect(refused.json()).toMatchObject({
    code: 'quota_exceeded',
    quota: 'stored_bytes',
    of: 'organization',
    limit: 3_500,
  });
  expect(await stored(owner)).toBe(refused.json().used);
  expect(await stored(owner)).toBeLessThanOrEqual(3_500);
});

test('an upload that exists already adds nothing, and a deleted one makes room', async () => {
  const owner = await newOwner(1_500);
  const rows = [{ text: 'x'.repeat(1_000) }];
  const { dataset_id: id } = (await upload(http.app, owner, rows)).json();
  expect((await upload(http.app, owner, rows)).statusCode).toBe(200);
  expect((await upload(http.app, owner, [{ text: 'y'.repeat(1_000) }])).statusCode).toBe(429);
  expect((await send(http.app, owner, 'DELETE', `/api/v1/datasets/${id}`)).statusCode).toBe(204);
  expect(await stored(owner)).toBe(0);
  expect((await upload(http.app, owner, [{ text: 'y'.repeat(1_000) }])).statusCode).toBe(201);
});

test('requests of jobs and recorded calls count until the job is deleted, on every day', async () => {
  const owner = await newOwner(null);
  const { org: orgId } = owner;
  const jobId = await createJob(owner);
  const made = await stored(owner);
  expect(made).toBeGreaterThan(100);
  expect(made).toBeLessThan(2_000);
  await recordCall(owner, jobId, 'call_1', 10_000);
  const recorded = await stored(owner);
  expect(recorded - made).toBeGreaterThan(10_000);
  expect(recorded - made).toBeLessThan(11_000);

  // As if ten days had passed: the past is summed up once, and later days are added.
  await http.db.org(orgId, async (tx) => {
    await tx.query('update job_usage set day = day - 10');
    await tx.query('update stored_bytes set through = through - 10');
  });
  expect(await stored(owner)).toBe(recorded);
  await recordCall(owner, jobId, 'call_2', 10_000);
  expect(await stored(owner)).toBe(recorded + (recorded - made));
  await http.db.org(orgId, (tx) => finish(tx, { orgId, jobId }, 'completed'));
  expect((await send(http.app, owner, 'DELETE', `/api/v1/offline/jobs/${jobId}`)).statusCode).toBe(204);
  expect(await stored(owner)).toBe(0);
});

test('a job is refused where its request does not fit, and running jobs go on', async () => {
  const owner = await newOwner(1_000_000);
  const jobId = await createJob(owner);
  await recordCall(owner, jobId, 'call_3', 1_000_000);
  const refused = await send(other, owner, 'POST', '/api/v1/offline/jobs', evaluationRequest);
  expect([refused.statusCode, refused.json().quota]).toEqual([429, 'stored_bytes']);
  await recordCall(owner, jobId, 'call_4', 1_000_000);
});

test('a key has no such limit', async () => {
  const { body } = await http.call('POST', '/api/v1/admin/keys', { name: 'a', scopes: ['read'] });
  const refused = await http.call('PUT', `/api/v1/admin/keys/${body.key_id}/limits`, { stored_bytes: 1 });
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '/stored_bytes']);
});

test('inline rows of a create count as uploaded ones do, and a refused create stores none', async () => {
  const rows = Array.from({ length: 20 }, (_, n) => ({ input: `${n} ${'x'.repeat(2_000)}`, expected: 'y' }));
  const body = (name: string) => ({
    app_id: name,
    policy: { model: 'local', provider: 'local' },
    seeds: [0],
    dataset: { rows },
    scorer: 'exact',
    candidate: { messages: [{ role: 'system', content: 'Answer.' }] },
  });
  const create = (owner: Owner, name: string) => send(http.app, owner, 'POST', '/api/v1/offline/jobs', body(name));
  const tight = await newOwner(20_000);
  const refused = await create(tight, 'a');
  expect([refused.statusCode, refused.json()]).toEqual([
    429,
    expect.objectContaining({ code: 'quota_exceeded', quota: 'stored_bytes', limit: 20_000 }),
  ]);
  expect(await stored(tight)).toBe(0);
  const wide = await newOwner(60_000);
  // The same rows again take no more room.
  expect([(await create(wide, 'a')).statusCode, (await create(wide, 'b')).statusCode]).toEqual([201, 201]);
  expect(await stored(wide)).toBeGreaterThan(40_000);
});
