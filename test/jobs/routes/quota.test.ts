import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { buildApp } from '../../../src/platform/http/app.js';
import type { App } from '../../../src/platform/http/deps.js';
import { connect, type Db } from '../../../src/platform/db/db.js';
import { evaluationRequest, finish, httpOfFile } from '../../platform/http/support.js';

// Open jobs of a key and of an organization, created through two API servers at once.

const http = httpOfFile();
const path = '/api/v1/offline/jobs';
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
  keyId: string;
}

async function newOwner({ ofOrg, ofKey }: { ofOrg?: number; ofKey?: number }): Promise<Owner> {
  const { org_id: org } = (await http.call('POST', '/api/v1/admin/orgs', { name: 'limited' })).body;
  const query = `?org_id=${org}`;
  if (ofOrg !== undefined) await http.call('PUT', `/api/v1/admin/limits${query}`, { open_jobs: ofOrg });
  return { org, ...(await newKey(org, ofKey)) };
}

async function newKey(org: string, limit?: number): Promise<{ key: string; keyId: string }> {
  const query = `?org_id=${org}`;
  const { body } = await http.call('POST', `/api/v1/admin/keys${query}`, { name: 'a', scopes: ['read', 'write'] });
  if (limit !== undefined)
    await http.call('PUT', `/api/v1/admin/keys/${body.key_id}/limits${query}`, { open_jobs: limit });
  return { key: body.key, keyId: body.key_id };
}

async function create(app: App, key: string, headers = {}) {
  const answer = await app.inject({
    method: 'POST',
    url: path,
    headers: { 'x-api-key': key, ...headers },
    payload: evaluationRequest,
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
}

test.each([
  ['an organization', { ofOrg: 3 }, 'organization'],
  ['a key', { ofKey: 3 }, 'key'],
])('concurrent creates at two servers do not exceed the limit of %s', async (_name, limits, of) => {
  const { key, org } = await newOwner(limits);
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => create(n % 2 ? http.app : other, key)));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(201), ...Array(9).fill(429)]);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(refused.body).toMatchObject({ code: 'quota_exceeded', quota: 'open_jobs', of, limit: 3, used: 3 });
  expect(refused.headers['retry-after']).toBe('60');
  const { body } = await http.call('GET', `/api/v1/admin/limits?org_id=${org}`);
  expect(body.used.open_jobs).toBe(3);
});

test('a job that ends makes room', async () => {
  const { key, org: orgId } = await newOwner({ ofKey: 1 });
  const { body } = await create(http.app, key);
  expect((await create(http.app, key)).status).toBe(429);
  await http.db.org(orgId, (tx) => finish(tx, { orgId, jobId: body.job_id }, 'completed'));
  expect((await create(http.app, key)).status).toBe(201);
});

test('a repeated create is answered, and takes no second place', async () => {
  const { key } = await newOwner({ ofKey: 1 });
  const once = { 'idempotency-key': 'once' };
  const first = await create(http.app, key, once);
  const again = await create(other, key, once);
  expect([again.status, again.body.job_id]).toEqual([201, first.body.job_id]);
});

test('the limit of a key leaves other keys of the organization alone', async () => {
  const { key, org } = await newOwner({ ofKey: 0 });
  expect((await create(http.app, key)).status).toBe(429);
  expect((await create(http.app, (await newKey(org)).key)).status).toBe(201);
});

describe('an evaluation of a gate', () => {
  test('counts for nobody: it is a part of its deployment', async () => {
    const { key, org: orgId } = await newOwner({ ofOrg: 1 });
    await create(http.app, key);
    await http.db.org(orgId, (tx) => tx.query('update jobs set key_id = null'));
    expect((await create(http.app, key)).status).toBe(201);
  });
});
