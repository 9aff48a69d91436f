import { beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Tx } from '../../../src/platform/db/db.js';
import { announceChange } from '../../../src/access/store/audit-log.js';
import { promote } from '../../../src/kinds/deployment/store/names.js';
import { evaluationRequest, httpOfFile, sessionRequest } from '../../platform/http/support.js';

const http = httpOfFile();
const log = '/api/v1/admin/audit-log';
const sessions = '/api/v1/online/sessions';
const entries = async (query = '', headers = {}) => (await http.call('GET', log + query, undefined, headers)).body.data;

test('a create, a command and a label are each an entry, with the key that made them', async () => {
  const { body: key } = await http.call('POST', '/api/v1/admin/keys', { name: 'ci', scopes: ['read', 'write'] });
  const as = { authorization: `Bearer ${key.key}`, 'x-request-id': 'req-1' };
  const created = await http.call('POST', sessions, { policy_optimization: sessionRequest }, as);
  const id = created.body.session_id;
  await http.call('POST', `${sessions}/${id}/cancel`, undefined, as);
  await http.call('PATCH', `${sessions}/${id}`, { notes: 'secret-note' }, as);
  const by = { key_id: key.key_id, org_id: 'default', target_org_id: null, client_request_id: 'req-1' };
  const [patched, cancelled, made, ofKey] = await entries('?limit=4');
  // Entries whose callers chose one id are told apart.
  expect(new Set([patched, cancelled, made].map((entry) => entry.request_id)).size).toBe(3);
  expect(patched).toMatchObject({ ...by, action: `PATCH ${sessions}/:session_id`, params: { session_id: id } });
  expect(cancelled).toMatchObject({ ...by, action: `POST ${sessions}/:session_id/cancel`, created_id: null });
  expect(made).toMatchObject({ ...by, action: `POST ${sessions}`, created_id: id, status: 201 });
  expect(ofKey).toMatchObject({
    key_id: 'bootstrap_default',
    action: 'POST /api/v1/admin/keys',
    created_id: key.key_id,
  });
});

test('refused and replayed requests are none, nor are reads and rewards', async () => {
  const headers = { 'idempotency-key': 'once' };
  const create = () => http.call('POST', '/api/v1/offline/jobs', evaluationRequest, headers);
  const { body } = await create();
  const [before] = await entries('?limit=1');
  expect(before.created_id).toBe(body.job_id);
  expect((await create()).headers['idempotency-replayed']).toBe('true');
  expect((await http.call('DELETE', `/api/v1/offline/jobs/${body.job_id}`)).status).toBe(409);
  expect((await http.call('POST', `${sessions}/ses_unknown/cancel`)).status).toBe(404);
  expect((await http.call('POST', sessions, {})).status).toBe(422);
  await http.call('POST', `/api/v1/offline/jobs/${body.job_id}/reward`, { reward: 1 });
  await http.call('GET', sessions);
  expect((await entries('?limit=1'))[0]).toEqual(before);
});

test('secrets are in no entry', async () => {
  const secrets = ['sk-provider-secret', 'container-secret'];
  await http.call('PUT', '/api/v1/admin/provider-keys/openai', { api_key: secrets[0] });
  await http.call('POST', '/api/v1/offline/jobs', { ...evaluationRequest, container_api_key: secrets[1] });
  const { body } = await http.call('POST', '/api/v1/admin/keys', { name: 'a', scopes: ['read'] });
  const text = JSON.stringify(await entries());
  for (const secret of [...secrets, body.key, body.key.slice(12)]) expect(text).not.toContain(secret);
});

test('what an operator changes elsewhere is in both logs, and no other organization sees it', async () => {
  const { body: org } = await http.call('POST', '/api/v1/admin/orgs', { name: 'Acme' });
  const of = `?org_id=${org.org_id}`;
  const { body: key } = await http.call('POST', `/api/v1/admin/keys${of}`, { name: 'a', scopes: ['admin'] });
  const change = { org_id: 'default', target_org_id: org.org_id, created_id: key.key_id };
  expect(await entries('', { authorization: `Bearer ${key.key}` })).toMatchObject([change]);
  expect((await entries('?limit=1'))[0]).toMatchObject(change);
  expect(await entries('', { authorization: `Bearer ${http.otherKey}` })).toEqual([]);
});

test('reading the secret of webhooks is an entry', async () => {
  await http.call('GET', '/api/v1/webhooks/secret');
  const action = 'GET /api/v1/webhooks/secret';
  expect((await entries('?limit=1'))[0]).toMatchObject({ action, key_id: 'bootstrap_default', status: 200 });
});

test('a promotion by the service is an entry without a key', async () => {
  const source = { messages: [{ role: 'system', content: 'a' }], policy: { provider: 'local', model: 'local' } };
  const { body } = await http.call('POST', '/api/harbor/deployments', { name: 'promoted', source });
  await http.db.org('default', (tx) => promote(tx, { orgId: 'default', jobId: body.id }));
  expect((await entries('?limit=1'))[0]).toMatchObject({
    key_id: null,
    request_id: null,
    status: 200,
    action: 'promote',
    params: { deployment_id: body.id },
  });
});

test('pages from the newest on', async () => {
  const all = await entries();
  const { next_cursor: cursor } = (await http.call('GET', `${log}?limit=2`)).body;
  expect((await entries(`?limit=2&cursor=${cursor}`)).map(({ audit_id: id }: { audit_id: string }) => id)).toEqual(
    all.slice(2, 4).map(({ audit_id: id }: { audit_id: string }) => id),
  );
});

test('a settled entry is final, and one of a process that died has no status', async () => {
  const change = (tx: Tx) => tx.query("update audit_log set action = 'forged' returning id");
  expect(await http.db.org('default', change)).toEqual([]);
  expect(await http.db.org('default', (tx) => tx.query('delete from audit_log returning id'))).toEqual([]);
  const entry = { orgId: 'default', targetOrg: null, keyId: 'key_1', action: 'POST /x', params: {} };
  const id = await http.db.org('default', (tx) =>
    announceChange(tx, { ...entry, requestId: 'r', clientRequestId: null }),
  );
  expect((await entries('?limit=1'))[0]).toMatchObject({ audit_id: id, status: null });
});

describe('while the log is', () => {
  /** Runs `work` while changes of the log run `body` first. */
  async function whileLog(event: 'insert' | 'update', body: string, work: () => Promise<void>): Promise<void> {
    const superuser = new pg.Client(http.databaseUrl);
    await superuser.connect();
    await superuser.query(`create function slow_log() returns trigger language plpgsql as
      $$ begin ${body}; return new; end $$`);
    await superuser.query(`create trigger slow before ${event} on audit_log for each row execute function slow_log()`);
    await work();
    await superuser.query('drop function slow_log cascade');
    await superuser.end();
  }
  const create = (name: string) => http.call('POST', '/api/v1/admin/keys', { name, scopes: ['read'] });

  test('not writable, nothing is changed', () =>
    whileLog('insert', "raise exception 'full' using errcode = 'disk_full'", async () => {
      expect((await create('unlogged')).status).toBe(503);
      const { data } = (await http.call('GET', '/api/v1/admin/keys')).body;
      expect(data.map(({ name }: { name: string }) => name)).not.toContain('unlogged');
    }));

  test('slow, the answer waits for its entry', () =>
    whileLog('update', 'perform pg_sleep(0.2)', async () => {
      expect((await create('logged')).status).toBe(201);
      expect((await entries('?limit=1'))[0]).toMatchObject({ action: 'POST /api/v1/admin/keys', status: 201 });
    }));
});

describe('every operation that changes something', () => {
  let operations: { name: string; method: 'POST'; url: string; hasBody: boolean }[];
  beforeAll(async () => {
    const { paths } = (await http.call('GET', '/openapi.json')).body as {
      paths: Record<string, Record<string, { requestBody?: object }>>;
    };
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'get' && !/\/(?:reward|feedback|check|\{subject_id\})$/.test(path))
        .map(([method, { requestBody }]) => ({
          name: `${method} ${path}`,
          method: method.toUpperCase() as 'POST',
          url: path.replaceAll(/\{\w+\}/g, 'x'),
          hasBody: requestBody !== undefined,
        })),
    );
  });

  const graphTasks = [...'abcdefghijkl'].map((id) => ({ id, input: { question: id } }));
  const bodies: Record<string, unknown> = {
    [`post ${sessions}`]: { policy_optimization: sessionRequest },
    'post /api/v1/offline/jobs': evaluationRequest,
    [`post ${sessions}/{session_id}/candidates/{candidate_id}/ablations`]: { component: 'system', sentence: 0 },
    'post /api/graphgen/jobs': {
      dataset: {
        initial_prompt: 'Answer.',
        tasks: graphTasks,
        verifier_config: { mode: 'exact' },
        gold_outputs: graphTasks.map(({ id }) => ({ task_id: id, output: 'x' })),
      },
      policy_model: 'gpt-4o-mini',
      rollout_budget: 60,
    },
    'post /api/harbor/deployments': {
      name: 'a',
      source: { messages: [{ role: 'system', content: 'a' }], policy: { provider: 'local', model: 'local' } },
    },
    'post /api/v1/try': {
      dataset: { dataset_id: 'ds_x', input: 'a' },
      scorer: 'exact',
      policy: { provider: 'local', model: 'local' },
      candidate: { messages: [{ role: 'system', content: 'a' }] },
    },
    'post /api/v1/datasets': '{"a":1}',
    'patch /api/v1/datasets/{dataset_id}': { name: 'a' },
    'post /api/v1/runs/commands': { action: 'archive', job_ids: ['x'] },
    'post /api/v1/admin/keys': { name: 'a', scopes: ['read'] },
    'post /api/v1/admin/orgs': { name: 'a' },
    'put /api/v1/admin/provider-keys/{provider}': { api_key: 'a' },
    'put /api/harbor/deployments/{deployment_id}/labels/{label}': { version: 1 },
    'post /api/harbor/deployments/{deployment_id}/rollout': { action: 'pause' },
    'post /api/harbor/deployments/{deployment_id}/schedules': { every: '1d' },
    'post /api/harbor/deployments/{deployment_id}/migrations': { to: { provider: 'local', model: 'local' } },
    'post /api/harbor/checkups/{job_id}/approval': { approve: true },
    [`post ${sessions}/{session_id}/candidates`]: { messages: [{ role: 'system', content: 'a' }] },
    [`post ${sessions}/{session_id}/hint`]: { hint: 'a' },
  };

  /** The status of those that create nothing, and name no unknown id. */
  const changes: Record<string, unknown> = {
    'put /api/v1/admin/provider-keys/{provider}': expect.any(Number),
    'delete /api/v1/admin/provider-keys/{provider}': expect.any(Number),
    'put /api/v1/admin/limits': 200,
    'post /api/v1/runs/commands': 200,
    // Of an unknown data set.
    'post /api/v1/try': 422,
    'post /api/v1/webhooks/secret/rotate': 200,
  };

  const queries: Record<string, string> = { 'delete /api/v1/admin/orgs/{org_id}': '?name=a' };

  /** The statements that `work` sends, in their order. */
  async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
    const statements: string[] = [];
    const { org } = http.db;
    http.db.org = (orgId, transaction) =>
      org(orgId, (tx) => transaction({ query: (text, ...rest) => (statements.push(text), tx.query(text, ...rest)) }));
    try {
      await work();
    } finally {
      http.db.org = org;
    }
    // The key's last use is recorded meanwhile.
    return statements.filter((text) => !text.includes('last_used_at'));
  }

  test('is announced first, whatever comes of it', async () => {
    expect(operations.length).toBeGreaterThan(25);
    for (const { name, method, url, hasBody } of operations) {
      const body = bodies[name] ?? (method === ('PATCH' as string) ? { notes: 'a' } : hasBody ? {} : undefined);
      const type = name === 'post /api/v1/datasets' ? { 'content-type': 'application/jsonl' } : {};
      let status = 0;
      const [first = ''] = await statementsOf(
        async () => ({ status } = await http.call(method, url + (queries[name] ?? ''), body, type)),
      );
      expect([name, status, first.trim().slice(0, 21)]).toEqual([
        name,
        changes[name] ?? (bodies[name] && !name.includes('{') ? 201 : 404),
        'insert into audit_log',
      ]);
    }
  });
});
