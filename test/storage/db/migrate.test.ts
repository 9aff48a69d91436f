import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { connect } from '../../../src/storage/db/db.js';
import { migrate, MigrationError } from '../../../src/storage/db/migrate.js';
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
      tx.query('select current_user::text as name, current_setting($1) as path', ['search_path']),
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
  url.searchParams.set('options', '-c search_path=public,pg_temp -c role=postgres');
  expect(await whoAmI(url.href)).toEqual([{ name: 'ratchet_app', path: 'public,pg_temp' }]);
});

test('a role without permission for ratchet_app gets one line with the remedy', async () => {
  await expect(migrate(await ownedBy(''), log)).rejects.toThrow(MigrationError);
  await expect(migrate(await ownedBy(''), log)).rejects.toThrow(/grant ratchet_app to owner_/);
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
