import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { connect, type Db } from '../../../src/platform/db/db.js';
import { announceChange } from '../../../src/access/store/audit-log.js';
import { fillEveryTable, tables } from '../../support/every-table.js';
import { createDatabase } from '../../support/servers/embedded.js';

// Invariants: the service's role is no superuser and owns nothing; a transaction sees its
// organization's rows in every table, and none without an organization; each of the two other
// scopes sees exactly its rows.

let url: string;
let db: Db;
beforeAll(async () => {
  url = await createDatabase();
  await ownAsManaged(url);
  db = connect(url, pino({ level: 'silent' }), 4);
  for (const org of ['one', 'two']) await fillEveryTable(db, org);
});
afterAll(() => db.close());

/** Gives all to a role that is no superuser, as in a managed database. */
async function ownAsManaged(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const role = `owner_${new URL(url).pathname.slice(1)}`;
  await admin.query(`create role ${role} nosuperuser nobypassrls`);
  await admin.query(`do $$
    declare one regclass; f regprocedure;
    begin
      for one in select oid::regclass from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
        execute format('alter table %s owner to ${role}', one);
      end loop;
      for f in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace loop
        execute format('alter function %s owner to ${role}', f);
      end loop;
    end $$`);
  await admin.end();
}

describe('row-level security', () => {
  test('covers every table with rows of an organization', async () => {
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const { rows } = await admin.query<{ relname: string; relrowsecurity: boolean; relforcerowsecurity: boolean }>(
      `select relname, relrowsecurity, relforcerowsecurity from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not in ('schema_migrations', 'secret_key_fingerprint', 'installation', 'write_probe', 'worker_reports')`,
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
    const entry = {
      orgId: 'two',
      targetOrg: null,
      keyId: null,
      action: 'x',
      params: {},
      requestId: null,
      clientRequestId: null,
    };
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
    expect(Object.keys(jobs[0]!).sort()).toEqual([
      'id',
      'kind',
      'org_id',
      'stuck_cause',
      'workflow_id',
      'workflow_started',
    ]);
    expect(await db.worker((tx) => tx.query(`select * from webhooks_in('due', 10)`))).toEqual([
      { org_id: 'two', job_id: expect.any(String), run: 1, workflow_suffix: '' },
    ]);
    const judges = await db.worker((tx) => tx.query<{ org_id: string }>('select * from due_judges(10)'));
    expect(judges.map((row) => row.org_id).sort()).toEqual(['one', 'two']);
    expect(Object.keys(judges[0]!).sort()).toEqual(['name', 'org_id']);
    const unsynced = `select * from unsynced_schedules('installation', now(), 10)`;
    const ofSchedules = await db.worker((tx) => tx.query<{ org_id: string }>(unsynced));
    expect(ofSchedules.map((row) => row.org_id).sort()).toEqual(['one', 'two']);
    expect(Object.keys(ofSchedules[0]!).sort()).toEqual(['id', 'org_id']);
    const runs = await db.worker((tx) => tx.query<{ org_id: string }>('select * from open_schedule_runs(10)'));
    expect(runs.map((row) => row.org_id).sort()).toEqual(['one', 'two']);
    expect(Object.keys(runs[0]!).sort()).toEqual(['id', 'org_id', 'schedule_id', 'status']);
    for (const table of tables) expect(await db.worker((tx) => tx.query(`select 1 from ${table}`))).toEqual([]);
    expect(await db.worker((tx) => tx.query(`update jobs set status = 'failed' returning id`))).toEqual([]);
    expect(await db.worker((tx) => tx.query('select * from count_open_jobs()'))).toEqual([
      expect.objectContaining({ status: 'running', count: 2 }),
    ]);
    await db.org('one', (tx) => tx.query(`update jobs set stuck = '{"cause": "timed_out"}'`));
    expect(await db.worker((tx) => tx.query('select * from count_stuck_jobs()'))).toEqual([
      { cause: 'timed_out', count: 1 },
    ]);
    const expired = `select * from expired_jobs('traces', now() + interval '1 minute', 10)`;
    await db.org('two', (tx) => tx.query('update jobs set completed_at = now()'));
    expect(await db.worker((tx) => tx.query(expired))).toEqual([{ org_id: 'two', job_id: expect.any(String) }]);
    const due = 'select * from due_deletions(10)';
    expect(await db.worker((tx) => tx.query(due))).toHaveLength(2);
    const orgs = ['select * from live_orgs()', 'select * from deleted_orgs()'];
    expect(await db.worker((tx) => tx.query(orgs[0]!))).toHaveLength(2);
    for (const listed of [
      open,
      expired,
      due,
      ...orgs,
      `select * from webhooks_in('due', 10)`,
      'select * from due_judges(10)',
      unsynced,
      'select * from open_schedule_runs(10)',
      'select * from count_open_jobs()',
      'select * from count_stuck_jobs()',
    ])
      expect(await db.org('one', (tx) => tx.query(listed))).toEqual([]);
  });

  test('what a deletion of an organization deletes stays without one', async () => {
    await db.org('one', (tx) => tx.query(`update audit_log set status = 200`));
    for (const table of ['orgs', 'snapshots', 'audit_log'])
      expect(await db.org('one', (tx) => tx.query(`delete from ${table} returning 1`))).toEqual([]);
    await expect(db.org('one', (tx) => tx.query(`update orgs set name = 'x'`))).rejects.toThrow(/permission denied/);
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
