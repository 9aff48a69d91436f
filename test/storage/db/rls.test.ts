import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { paused } from '../../../src/core/events/jobs.js';
import { connect, type Db } from '../../../src/storage/db/db.js';
import { writeCounters } from '../../../src/storage/deployments/counters.js';
import { insertDeployment, setSnapshot, promote } from '../../../src/storage/deployments/deployments.js';
import { putDataset } from '../../../src/storage/datasets/datasets.js';
import { insertTasks } from '../../../src/storage/graphs/tasks.js';
import { announceChange } from '../../../src/storage/access/audit-log.js';
import { ensureBootstrapKey } from '../../../src/storage/access/keys.js';
import { noLimits, setLimits } from '../../../src/storage/access/limits.js';
import { takeRequests } from '../../../src/storage/access/request-windows.js';
import { readStoredBytes } from '../../../src/storage/access/stored-bytes.js';
import { recordDecision } from '../../../src/storage/decisions/record.js';
import { insertTrace } from '../../../src/storage/jobs/traces.js';
import { insertWebhook } from '../../../src/storage/jobs/webhooks.js';
import { planRollouts } from '../../../src/storage/rollouts/rollouts.js';
import { publishSlots } from '../../../src/storage/rollouts/slots.js';
import { insertLabels } from '../../../src/storage/jobs/labels.js';
import { putSnapshot } from '../../../src/storage/deployments/snapshots.js';
import { putProviderKey } from '../../../src/storage/access/provider-keys.js';
import { putSecret } from '../../../src/storage/access/secrets.js';
import { counterOf } from '../../support/counters.js';
import { createDatabase } from '../../support/servers/embedded.js';
import { insertJob } from '../../support/job.js';

// Invariants: the service's role is no superuser and owns nothing; a transaction sees its
// organization's rows in every table, and none without an organization; each of the two other
// scopes sees exactly its rows.

let url: string;
let db: Db;
const tables = [
  'orgs',
  'api_keys',
  'limits',
  'request_windows',
  'call_slots',
  'provider_keys',
  'audit_log',
  'jobs',
  'job_labels',
  'job_controls',
  'search_inputs',
  'search_states',
  'secrets',
  'candidates',
  'rollouts',
  'model_calls',
  'job_usage',
  'daily_spend',
  'stored_bytes',
  'job_budgets',
  'cost_reservations',
  'rewards',
  'slots',
  'sensor_frames',
  'graph_tasks',
  'snapshots',
  'deployments',
  'deployment_names',
  'deployment_counters',
  'datasets',
  'dataset_rows',
  'commands',
  'suggestions',
  'events',
  'webhooks',
  'job_traces',
  'idempotency_keys',
];

beforeAll(async () => {
  url = await createDatabase();
  db = connect(url, pino({ level: 'silent' }), 4);
  for (const org of ['one', 'two']) {
    const job = await insertJob(db, org);
    await ensureBootstrapKey(db, Buffer.alloc(32, 1), org, `key-of-the-organization-named-${org}`);
    await db.org(org, async (tx) => {
      await planRollouts(tx, job, [{ ordinal: 0, candidate: 0, seed: 1, stage: 'evaluation', generation: 0 }], false);
      await recordDecision(tx, job, { events: [paused(1)] });
      await setLimits(tx, org, org, { ...noLimits, requestsPerMinute: 1 });
      await takeRequests(tx, { orgId: org, subject: org, limit: 1 }, 1);
      await tx.query('insert into call_slots values ($1, $1, $2, 1, now())', [org, randomUUID()]);
      await putProviderKey(tx, Buffer.alloc(32, 2), { orgId: org, provider: 'openai', value: 'key' });
      await putSecret(tx, Buffer.alloc(32, 2), { ...job, name: 'n', origin: 'http://x' }, 'secret');
      await tx.query(
        `insert into candidates (id, org_id, job_id, lever_version, generation, status) values ($1, $2, $3, 0, 0, 'proposed')`,
        [`cand_${org}`, org, job.jobId],
      );
      await tx.query(
        `insert into model_calls (id, org_id, job_id, purpose, request_hash, provider, model, request, http_status)
         values ($1, $2, $3, 'caller', '', 'p', 'm', '{}', 200)`,
        [`call_${org}`, org, job.jobId],
      );
      await tx.query(
        `insert into job_usage (job_id, org_id, shard, calls, prompt_tokens, completion_tokens, cost_usd, unpriced,
                                from_table, answered, cached)
         values ($1, $2, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
        [job.jobId, org],
      );
      await readStoredBytes(tx, org);
      await tx.query('insert into job_budgets (job_id, org_id, max_usd) values ($1, $2, 1)', [job.jobId, org]);
      await tx.query(
        'insert into cost_reservations (id, job_id, org_id, amount_usd, presence) values ($1, $2, $3, 1, 1)',
        [`res_${org}`, job.jobId, org],
      );
      await tx.query(`insert into rewards (id, org_id, job_id, body, counted) values ($1, $2, $3, '{}', true)`, [
        `rwd_${org}`,
        org,
        job.jobId,
      ]);
      await tx.query(`insert into search_states (job_id, org_id, run, kept) values ($1, $2, 1, '{}')`, [
        job.jobId,
        org,
      ]);
      await tx.query(`insert into search_inputs (job_id, org_id, step, input) values ($1, $2, 1, '{}')`, [
        job.jobId,
        org,
      ]);
      await tx.query(`insert into commands (id, org_id, job_id, kind) values ($1, $2, $3, 'pause')`, [
        `cmd_${org}`,
        org,
        job.jobId,
      ]);
      await tx.query(`insert into suggestions (command_id, org_id, hint) values ($1, $2, 'hint')`, [`cmd_${org}`, org]);
      await insertLabels(tx, job.jobId, { tags: ['tag'], metadata: {} });
      await insertWebhook(tx, job, 'http://x');
      await insertTrace(tx, job, { traceId: 'a', parentId: null, sampled: true });
      await publishSlots(tx, job, [{ ordinal: 1, candidate: 0, seed: 1, stage: 'evaluation', generation: 0 }]);
      await tx.query(
        `insert into sensor_frames (job_id, org_id, ordinal, candidate_id, stage, generation, trace_ids)
         values ($1, $2, 0, $3, 'evaluation', 0, '{}')`,
        [job.jobId, org, `cand_${org}`],
      );
      await insertTasks(tx, job, [{ taskId: 'a', input: { question: 'q' }, gold: null, rubric: null }]);
      const snapshot = await putSnapshot(tx, org, {
        ...{ kind: 'messages', messages: [], demos: [], levers_marked: false, lever_versions: {} },
        policy: { provider: 'p', model: 'm' },
        provenance: { source: 'messages', job_id: null, candidate_id: null, reward: null, verdict: null },
      });
      await insertDeployment(tx, job, 'name');
      await setSnapshot(tx, job.jobId, snapshot);
      await promote(tx, job);
      const dataset = { id: `ds_${org}`, numRows: 1, columns: [], bytes: 2 };
      await putDataset(
        tx,
        org,
        dataset,
        (async function* () {
          yield await Promise.resolve(['{}']);
        })(),
      );
      const spend = { counterId: randomUUID(), day: '2026-01-01', keyId: null, costUsd: 1 };
      await writeCounters(tx, org, [counterOf({ deploymentId: `dep_${org}` })], [spend]);
      await tx.query(`insert into idempotency_keys (org_id, key, fingerprint) values ($1, 'k', '')`, [org]);
    });
  }
});
afterAll(() => db.close());

describe('row-level security', () => {
  test('covers every table with rows of an organization', async () => {
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const { rows } = await admin.query<{ relname: string; relrowsecurity: boolean; relforcerowsecurity: boolean }>(
      `select relname, relrowsecurity, relforcerowsecurity from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not in ('schema_migrations', 'secret_key_fingerprint', 'write_probe')`,
    );
    const { rows: role } = await admin.query(
      `select rolsuper, rolbypassrls, rolcanlogin, rolcreaterole from pg_roles where rolname = 'ratchet_app'`,
    );
    await admin.end();
    expect(rows.map((row) => row.relname).sort()).toEqual([...tables].sort());
    expect(rows.filter((row) => !row.relrowsecurity || !row.relforcerowsecurity)).toEqual([]);
    expect(role).toEqual([{ rolsuper: false, rolbypassrls: false, rolcanlogin: false, rolcreaterole: false }]);
  });

  test.each(tables)('%s: an organization sees only its own rows', async (table) => {
    const column = table === 'orgs' ? 'id' : 'org_id';
    const seen = await db.org('one', (tx) => tx.query<{ org: string }>(`select ${column} as org from ${table}`));
    expect(seen.length).toBeGreaterThan(0);
    expect(new Set(seen.map((row) => row.org))).toEqual(new Set(['one']));
  });

  test.each(tables)('%s: a transaction without an organization sees nothing', async (table) => {
    expect(await db.org('', (tx) => tx.query(`select 1 from ${table}`))).toEqual([]);
    expect(await db.auth('00', (tx) => tx.query(`select 1 from ${table}`))).toEqual([]);
  });

  test('a row of another organization cannot be written', async () => {
    await expect(
      db.org('one', (tx) =>
        tx.query(`insert into idempotency_keys (org_id, key, fingerprint) values ('two', 'x', '')`),
      ),
    ).rejects.toThrow(/row-level security/);
    const entry = { orgId: 'two', targetOrg: null, keyId: null, action: 'x', params: {}, requestId: null };
    await expect(db.org('one', (tx) => announceChange(tx, entry))).rejects.toThrow(/row-level security/);
    expect(
      await db.org('one', (tx) => tx.query(`update jobs set status = 'failed' where org_id = 'two' returning id`)),
    ).toEqual([]);
  });

  test('the worker scope sees some columns of open jobs and due webhooks, and no table', async () => {
    await db.org('two', (tx) => tx.query(`update webhooks set status = 'due'`));
    const open = `select * from open_jobs(now() + interval '1 minute', 10)`;
    const jobs = await db.worker((tx) => tx.query<{ org_id: string }>(open));
    expect(jobs.map((row) => row.org_id).sort()).toEqual(['one', 'two']);
    expect(Object.keys(jobs[0]!).sort()).toEqual(['id', 'kind', 'org_id', 'workflow_id', 'workflow_started']);
    expect(await db.worker((tx) => tx.query('select * from due_webhooks(10)'))).toEqual([
      { org_id: 'two', job_id: expect.any(String), run: 1 },
    ]);
    for (const table of tables) expect(await db.worker((tx) => tx.query(`select 1 from ${table}`))).toEqual([]);
    expect(await db.worker((tx) => tx.query(`update jobs set status = 'failed' returning id`))).toEqual([]);
    expect(await db.worker((tx) => tx.query('select * from count_open_jobs()'))).toEqual([
      expect.objectContaining({ status: 'running', count: 2 }),
    ]);
    for (const listed of [open, 'select * from due_webhooks(10)', 'select * from count_open_jobs()'])
      expect(await db.org('one', (tx) => tx.query(listed))).toEqual([]);
  });

  test('the operator scope lists the organizations and nothing else', async () => {
    const seen = await db.operator((tx) => tx.query<{ id: string }>('select id from orgs'));
    expect(seen.map(({ id }) => id).sort()).toEqual(['one', 'two']);
    for (const table of tables.filter((name) => name !== 'orgs')) {
      expect(await db.operator((tx) => tx.query(`select 1 from ${table}`))).toEqual([]);
    }
  });

  test('the look-up of a key sees only the row with its hash', async () => {
    const [row] = await db.org('two', (tx) =>
      tx.query<{ hash: string }>(`select encode(key_hash, 'hex') as hash from api_keys`),
    );
    const found = await db.auth(row!.hash, (tx) => tx.query<{ org_id: string }>('select org_id from api_keys'));
    expect(found).toEqual([{ org_id: 'two' }]);
  });
});
