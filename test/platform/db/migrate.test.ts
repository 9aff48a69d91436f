import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { pino } from 'pino';
import { connect } from '../../../src/platform/db/db.js';
import { DatabaseStartError } from '../../../src/platform/db/errors.js';
import { migrate } from '../../../src/platform/db/migrate.js';
import { insertJob } from '../../support/job.js';
import { createDatabase } from '../../support/servers/embedded.js';

const log = pino({ level: 'silent' });

/** A database owned by a new login role with these attributes; returns the role's URL. */
async function ownedBy(attributes: string): Promise<string> {
  const url = new URL(await createDatabase());
  const role = `owner_${randomUUID().slice(0, 8)}`;
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`create role ${role} login password 'secret' ${attributes}`);
  await admin.query(`create database ${role} owner ${role}`);
  await admin.end();
  return Object.assign(url, { username: role, password: 'secret', pathname: `/${role}` }).href;
}
const whoAmI = async (url: string) => {
  const db = connect(url, log, 1);
  try {
    return await db.org('default', (tx) =>
      tx.query('select current_user::text as name, current_setting($1) as memory', ['work_mem']),
    );
  } finally {
    await db.close();
  }
};

test('a second run changes nothing', async () => {
  const url = await createDatabase();
  await migrate(url, log);
  await Promise.all([migrate(url, log), migrate(url, log)]);
  expect(await whoAmI(url)).toMatchObject([{ name: 'ratchet_app' }]);
});

test('keeps the URL’s own options, which cannot remove the role', async () => {
  const url = new URL(await createDatabase());
  url.searchParams.set('options', '-c work_mem=5MB -c role=postgres -c search_path=pg_catalog');
  expect(await whoAmI(url.href)).toEqual([{ name: 'ratchet_app', memory: '5MB' }]);
});

test('a role without permission for ratchet_app gets one line with the remedy', async () => {
  await expect(migrate(await ownedBy(''), log)).rejects.toThrow(DatabaseStartError);
  await expect(migrate(await ownedBy(''), log)).rejects.toThrow(/grant ratchet_app to "owner_/);
});

test('grants SET to a member role without it', async () => {
  const url = await ownedBy('createrole');
  const { username } = new URL(url);
  const admin = new pg.Client({ connectionString: await createDatabase() });
  await admin.connect();
  // The state for the role that created it, since Postgres 16.
  await admin.query(`grant ratchet_app to ${username} with admin true, set false, inherit false`);
  await admin.end();
  await migrate(url, log);
  expect(await whoAmI(url)).toMatchObject([{ name: 'ratchet_app' }]);
  // Row-level security applies to an owner that is no superuser.
  const db = connect(url, log, 1);
  const { jobId } = await insertJob(db, 'one');
  const open = `select id from open_jobs(now() + interval '1 minute', 10)`;
  expect(await db.worker((tx) => tx.query(open))).toEqual([{ id: jobId }]);
  await db.close();
});

test('a refused connection is one line with the address', async () => {
  await expect(migrate('postgres://nobody@127.0.0.1:1/none', log)).rejects.toThrow(
    /127\.0\.0\.1:1 cannot be used .*DATABASE_URL/,
  );
});

/** A copy of the migrations with further files. */
function migrationsWith(files: Record<string, string>): URL {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-migrations-'));
  cpSync(join(process.cwd(), 'src', 'platform', 'db', 'migrations'), folder, { recursive: true });
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, name), sql);
  return pathToFileURL(`${folder}/`);
}

const first = readFileSync(join(process.cwd(), 'src', 'platform', 'db', 'migrations', '0001_initial.sql'), 'utf8');
const next = { '0002_next.sql': "create table next (note text); insert into next values ('upgraded')" };

test('a later version upgrades the schema and keeps the rows', async () => {
  const url = await createDatabase();
  const db = connect(url, log, 1);
  const { jobId } = await insertJob(db, 'one');
  const from = migrationsWith(next);
  await migrate(url, log, { from });
  await migrate(url, log, { from });
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  expect((await admin.query('select note from next')).rows).toEqual([{ note: 'upgraded' }]);
  expect((await admin.query('select id from jobs')).rows).toEqual([{ id: jobId }]);
  expect((await admin.query('select count(*)::int as n from schema_migrations where sha256 is not null')).rows).toEqual(
    [{ n: 2 }],
  );
  await admin.end();
  await db.close();
});

test('the line ends of a checkout make no other schema', async () => {
  const from = migrationsWith({ '0001_initial.sql': first.replaceAll('\n', '\r\n') });
  await migrate(await createDatabase(), log, { from });
});

test.each([
  ['of a newer build', async (url: string) => migrate(url, log, { from: migrationsWith(next) })],
  ['that was changed in place', (url: string) => query(url, `update schema_migrations set sha256 = 'other'`)],
  ['of a build without hashes', (url: string) => query(url, 'alter table schema_migrations drop column sha256')],
])('a schema %s is refused in one line, and nothing is changed', async (_, make) => {
  const url = await createDatabase();
  await make(url);
  const before = await query(url, 'select * from schema_migrations');
  const refused = await migrate(url, log, { remedy: 'delete /data' }).catch((error: Error) => error);
  expect(refused).toBeInstanceOf(DatabaseStartError);
  expect((refused as Error).message).toMatch(/^The database has .*000[12].*: delete \/data\.$/);
  expect(await query(url, 'select * from schema_migrations')).toEqual(before);
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
