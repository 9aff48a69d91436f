import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { connect, type Db } from '../../../src/platform/db/db.js';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { deleteRows } from '../../../src/retention/store/delete.js';
import { deleteOldAudit, deleteOrg, markOrg, readAnyJobs, tidyOrg } from '../../../src/retention/store/orgs.js';
import { fillEveryTable, tables } from '../../support/every-table.js';
import { createDatabase } from '../../support/servers/embedded.js';

let db: Db;
let admin: pg.Client;
let jobs: JobRef[];
beforeAll(async () => {
  const url = await createDatabase();
  db = connect(url, pino({ level: 'silent' }), 4);
  admin = new pg.Client({ connectionString: url });
  await admin.connect();
  jobs = [await fillEveryTable(db, 'one'), await fillEveryTable(db, 'two')];
});
afterAll(async () => {
  await admin.end();
  await db.close();
});

async function rowsOf(org: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const column = table === 'orgs' ? 'id' : 'org_id';
    const { rows } = await admin.query<{ n: number }>(`select count(*)::int as n from ${table} where ${column} = $1`, [
      org,
    ]);
    counts[table] = rows[0]!.n;
  }
  return counts;
}

test('an organization with jobs is not deleted, and one without leaves no row in any table', async () => {
  const before = await rowsOf('two');
  expect(Object.values(await rowsOf('one')).every((count) => count > 0)).toBe(true);
  expect(await db.org('one', (tx) => markOrg(tx, 'one', 'another name'))).toBe('mismatch');
  expect(await db.org('one', (tx) => markOrg(tx, 'one', 'one'))).toBe('marked');
  await expect(deleteOrg(db, 'one')).rejects.toThrow(/foreign key/);
  expect(await db.org('one', (tx) => readAnyJobs(tx, 10))).toHaveLength(1);
  await deleteRows(db, jobs[0]!);
  await deleteOrg(db, 'one');
  expect(await rowsOf('one')).toEqual(Object.fromEntries(tables.map((table) => [table, 0])));
  expect(await rowsOf('two')).toEqual(before);
});

test('entries of the audit log end by their age, and only where it is named', async () => {
  const ages = { fresh: 0, young: 8, old: 10 };
  for (const [name, days] of Object.entries(ages))
    await admin.query(
      `insert into audit_log (id, org_id, action, params, status, created_at)
       values ($1, 'two', 'a', '{}', 200, now() - make_interval(days => $2))`,
      [name, days],
    );
  const left = async () =>
    (await admin.query<{ id: string }>('select id from audit_log where id = any($1)', [Object.keys(ages)])).rows
      .map(({ id }) => id)
      .sort();
  await db.org('two', (tx) => tx.query("delete from audit_log where org_id = 'two'"));
  expect(await left()).toEqual(['fresh', 'old', 'young']);
  await deleteOldAudit(db, 'one', 1);
  expect(await left()).toEqual(['fresh', 'old', 'young']);
  await deleteOldAudit(db, 'two', 9);
  expect(await left()).toEqual(['fresh', 'young']);
});

test('what counts for no limit any more is deleted; what other transactions lock stays', async () => {
  await admin.query(
    `insert into request_windows values ('two', 'old', now() - interval '2 hours', 1), ('two', 'fresh', now(), 1),
       ('two', 'locked', now() - interval '2 hours', 1)`,
  );
  await admin.query(
    `insert into deployment_uses (org_id, subject, counter_id, tokens, usd, minute, minute_tokens, day, day_usd)
     select 'two', name, gen_random_uuid(), 1, 1, now() - interval '2 hours', 1, (now() at time zone 'utc')::date - days, usd
       from (values ('yesterday', 1, 1), ('without-spend', 0, 0), ('of-today', 0, 1)) as v(name, days, usd)`,
  );
  await db.org('two', async (tx) => {
    await tx.query(`select from request_windows where subject = 'locked' for update`);
    await db.org('two', (other) => tidyOrg(other, 'two'));
  });
  const left = async (table: string) =>
    (
      await admin.query<{ subject: string }>(`select subject from ${table} where org_id = 'two' order by subject`)
    ).rows.map(({ subject }) => subject);
  expect(await left('request_windows')).toEqual(['fresh', 'locked', 'two']);
  expect(await left('deployment_uses')).toEqual(['deployment name', 'of-today']);
});
