import { expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { asApp, connect } from '../../../src/platform/db/db.js';
import { ensureLoginRole } from '../../../src/platform/db/login-role.js';
import { MigrationError } from '../../../src/platform/db/migrate.js';
import { createDatabase } from '../../support/servers/embedded.js';

const log = pino({ level: 'silent' });

async function as<T>(config: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(config);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

test('a connection is ratchet_app, and nobody once it resets its role', async () => {
  const url = await ensureLoginRole(await createDatabase(), randomBytes(32));
  await as(asApp(url), async (client) => {
    const who = async () => (await client.query('select current_user as name')).rows[0].name as string;
    expect(await who()).toBe('ratchet_app');
    await client.query('reset role');
    // Also from before the start-up options.
    await client.query('set session authorization default');
    await client.query('set role none');
    expect(await who()).toBe(decodeURIComponent(new URL(url).username));
    const { rows } = await client.query(
      `select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication, rolinherit,
              array(select roleid::regrole::text from pg_auth_members m where m.member = r.oid) as roles
         from pg_roles r where rolname = current_user`,
    );
    const none = ['rolsuper', 'rolcreaterole', 'rolcreatedb', 'rolbypassrls', 'rolreplication', 'rolinherit'];
    expect(rows).toEqual([{ ...Object.fromEntries(none.map((right) => [right, false])), roles: ['ratchet_app'] }]);
    for (const sql of ['select from jobs', 'set role postgres', 'create table t ()', 'select from pg_authid'])
      await expect(client.query(sql)).rejects.toMatchObject({ code: '42501' });
  });
});

test('all processes of a secret key share a role, which another key does not open', async () => {
  const admin = await createDatabase();
  const [key, other] = [randomBytes(32), randomBytes(32)];
  const urls = await Promise.all(Array.from({ length: 4 }, () => ensureLoginRole(admin, key)));
  expect(new Set(urls).size).toBe(1);
  const [ours, theirs] = [urls[0]!, await ensureLoginRole(admin, other)].map((url) => new URL(url));
  expect(ours!.username).not.toBe(theirs!.username);
  expect(ours!.password).not.toBe(theirs!.password);
  const db = connect(urls[0]!, log, 1);
  await db.worker((tx) => tx.query('select 1'));
  await db.close();
  const wrong = Object.assign(new URL(urls[0]!), { password: 'wrong' });
  await expect(as({ connectionString: wrong.href }, (client) => client.query('select 1'))).rejects.toThrow();
});

test('where the role of the URL may not create it, one line has the statement for a superuser', async () => {
  const admin = await createDatabase();
  const name = `owner_${randomUUID().slice(0, 8)}`;
  await as({ connectionString: admin }, (client) => client.query(`create role ${name} login password 'secret'`));
  const url = Object.assign(new URL(admin), { username: name, password: 'secret' }).href;
  const key = randomBytes(32);
  const error = await ensureLoginRole(url, key).catch((refused: Error) => refused);
  expect(error).toBeInstanceOf(MigrationError);
  const [, sql] = /"(create role [^"]+)"/.exec((error as Error).message)!;
  expect(sql).toContain("password 'SCRAM-SHA-256$");
  await as({ connectionString: admin }, (client) => client.query(sql!));
  const loginUrl = await ensureLoginRole(url, key);
  expect(sql).not.toContain(new URL(loginUrl).password);
  const db = connect(loginUrl, log, 1);
  await db.worker((tx) => tx.query('select 1'));
  await db.close();
});
