import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import {
  createSession,
  evaluationRequest,
  graphRequest,
  httpOfFile,
  sessionRequest,
  type Answer,
} from '../../platform/http/support.js';

const http = httpOfFile();

/** The number of rows of each table. */
async function stored(): Promise<Record<string, number>> {
  const postgres = new pg.Client(http.databaseUrl);
  await postgres.connect();
  try {
    const { rows: tables } = await postgres.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public'`,
    );
    const counts: Record<string, number> = {};
    for (const { name } of tables) {
      const { rows } = await postgres.query<{ n: string }>(`select count(*) as n from ${name}`);
      counts[name] = Number(rows[0]!.n);
    }
    return counts;
  } finally {
    await postgres.end();
  }
}

const rows = Array.from({ length: 30 }, (_, i) => ({ input: `q${i}`, expected: i % 2 === 0 ? 'a' : 'b' }));
const dataset = { rows };
const scorer = 'exact';
const { policy } = sessionRequest;
const messages = [{ role: 'system', content: 'Answer {{input}}' }];
const gepa = { generations: 1, population_size: 1 };
const onRows = { algorithm: 'gepa', gepa, policy, dataset, scorer, initial_prompt: { messages } };
const [sessions, evaluations, graphs] = ['/api/v1/online/sessions', '/api/v1/offline/jobs', '/api/graphgen/jobs'];
const key = { 'idempotency-key': 'dry' };

const answerFields = ({ body: { estimate, split, planned_comparison, warnings = [] } }: Answer) => ({
  estimate,
  warnings,
  ...(split && { split }),
  ...(planned_comparison && { planned_comparison }),
});

const typo = { ...policy, temprature: 0 };

describe('a dry run answers the numbers of the create, and stores and starts nothing', () => {
  test.each([
    ['session', sessions, { policy_optimization: { ...sessionRequest, policy: typo, container_api_key: 'k' } }],
    ['session on rows', sessions, { policy_optimization: onRows, webhook_url: 'http://127.0.0.1:9/x', tags: ['a'] }],
    ['evaluation', evaluations, { ...evaluationRequest, policy: typo }],
    ['evaluation on rows', evaluations, { policy, dataset, scorer, candidate: { messages } }],
    ['graph job', graphs, graphRequest],
  ])('%s', async (_, url, request) => {
    const before = { rows: await stored(), started: [...http.commander.started] };
    const dry = await http.call('POST', `${url}?dry_run=true`, request, key);
    expect([dry.status, dry.headers['location']]).toEqual([200, undefined]);
    expect({ rows: await stored(), started: http.commander.started }).toEqual(before);
    const created = await http.call('POST', url, request);
    expect(created.status).toBe(201);
    expect(dry.body).toEqual(answerFields(created));
    expect(dry.body.estimate.rollouts).toBeGreaterThan(0);
    expect(dry.body.warnings.join().includes('temprature')).toBe(JSON.stringify(request).includes('temprature'));
    expect('split' in dry.body).toBe(url === sessions && 'split' in created.body);
    expect('planned_comparison' in dry.body).toBe(url !== evaluations);
  });

  test('also of a clone', async () => {
    const id = await createSession(http);
    const patch = { policy_optimization: { budget: { max_rollouts: 44 } } };
    const before = await stored();
    const dry = await http.call('POST', `${sessions}/${id}/clone?dry_run=true`, patch);
    expect([dry.status, dry.body.estimate.rollouts]).toEqual([200, 44]);
    expect(await stored()).toEqual(before);
    const made = await http.call('POST', `${sessions}/${id}/clone`, patch);
    expect(made.body.estimate).toEqual(dry.body.estimate);
  });

  test('and leaves its Idempotency-Key to the create', async () => {
    const request = { policy_optimization: sessionRequest };
    await http.call('POST', `${sessions}?dry_run=true`, request, { 'idempotency-key': 'later' });
    const created = await http.call('POST', sessions, request, { 'idempotency-key': 'later' });
    expect([created.status, created.headers['idempotency-replayed']]).toEqual([201, undefined]);
  });
});

describe('a dry run is refused as the create is', () => {
  const unknown = { dataset_id: `ds_${'0'.repeat(64)}` };
  const noExpected = { rows: [...rows, { input: 'x', expected: '' }] };

  test.each([
    ['a field', sessions, { policy_optimization: { ...sessionRequest, patience: 0 } }],
    ['a provider', evaluations, { ...evaluationRequest, policy: { model: 'm', provider: 'nobody' } }],
    ['a data set', sessions, { policy_optimization: { ...onRows, dataset: unknown } }],
    ['a row', evaluations, { policy, dataset: noExpected, scorer, candidate: { messages } }],
    ['a candidate', evaluations, { ...evaluationRequest, candidate: { session_id: 'ses_x' } }],
    ['a webhook', graphs, { ...graphRequest, webhook_url: 'ftp://x' }],
    ['a task', graphs, { ...graphRequest, dataset: { ...graphRequest.dataset, gold_outputs: [] } }],
  ])('%s', async (_, url, request) => {
    const dry = await http.call('POST', `${url}?dry_run=true`, request);
    const created = await http.call('POST', url, request);
    expect(dry.status).toBe(422);
    const refusal = ({ body: { code, errors } }: Answer) => ({ code, errors });
    expect(refusal(dry)).toEqual(refusal(created));
  });

  test.each(['dry_run=yes', 'dryrun=true', 'dry_run='])('%s is 422', async (query) => {
    const answer = await http.call('POST', `${sessions}?${query}`, { policy_optimization: sessionRequest });
    expect([answer.status, answer.body.error.param]).toEqual([422, query.split('=')[0]]);
  });

  test('without room for another job', async () => {
    await createSession(http);
    await http.db.org('default', (tx) =>
      tx.query(`insert into limits (org_id, subject, open_jobs) values ('default', 'default', 1)`),
    );
    const answer = await http.call('POST', `${evaluations}?dry_run=true`, evaluationRequest);
    expect([answer.status, answer.body.code, answer.body.quota]).toEqual([429, 'quota_exceeded', 'open_jobs']);
  });
});

test('is refused where it does not exist, because the job would start', async () => {
  const started = [...http.commander.started];
  const deployment = { name: 'a', source: { messages, policy } };
  const answer = await http.call('POST', '/api/harbor/deployments?dry_run=true', deployment);
  expect(answer.status).toBe(422);
  expect(http.commander.started).toEqual(started);
});
