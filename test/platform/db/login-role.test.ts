import { expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { connect, routeOfService } from '../../../src/platform/db/db.js';
import { DatabaseStartError } from '../../../src/platform/db/errors.js';
import { loginRoleOf } from '../../../src/platform/db/login-role.js';
import { migrate, migrationSql } from '../../../src/platform/db/migrate.js';
import { openClient } from '../../../src/platform/db/route.js';
import { urlAs } from '../../../src/platform/db/url.js';
import { createDatabase } from '../../support/servers/embedded.js';

const log = pino({ level: 'silent' });

async function using<T>(opened: Promise<pg.Client>, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await opened;
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function as<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return using(Promise.resolve(client), work);
}

/** Migrates for a secret key; returns the URL of the service's connections. */
async function prepare(url: string, key: Buffer): Promise<string> {
  const login = loginRoleOf(key);
  await migrate(url, log, { login });
  return urlAs(url, login.name, login.password);
}

async function works(url: string): Promise<void> {
  const db = connect(url, log, 1);
  try {
    await db.worker((tx) => tx.query('select from jobs'));
  } finally {
    await db.close();
  }
}

/** An empty database and a role with a name that needs quotes, which owns it; returns its URL. */
async function ownedBy(attributes: string, ...more: string[]): Promise<{ url: string; admin: string; role: string }> {
  const admin = await createDatabase('empty');
  const role = `owner-${randomUUID().slice(0, 8)}`;
  const database = new URL(admin).pathname.slice(1);
  await as(admin, async (client) => {
    await client.query(`create role "${role}" login password 'se#cret' ${attributes}`);
    await client.query(`alter database "${database}" owner to "${role}"`);
    for (const sql of more) await client.query(sql.replaceAll('$db', `"${database}"`));
  });
  return { url: urlAs(admin, role, 'se#cret'), admin, role };
}

/** The statements that an error prints, as it prints them. */
async function printed(refused: Promise<unknown>): Promise<string> {
  const error = await refused.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DatabaseStartError);
  expect((error as Error).message).not.toContain('\n');
  return /: ((?:create|grant|alter) .*;)$/.exec((error as Error).message)![1]!;
}

test('a connection is ratchet_app, and nobody once it resets its role', async () => {
  const url = await prepare(await createDatabase(), randomBytes(32));
  await using(openClient(routeOfService(url), { application_name: 'test' }), async (client) => {
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
  const urls = await Promise.all(Array.from({ length: 4 }, () => prepare(admin, key)));
  expect(new Set(urls).size).toBe(1);
  const [ours, theirs] = [urls[0]!, await prepare(admin, other)].map((url) => new URL(url));
  expect(ours!.username).not.toBe(theirs!.username);
  expect(ours!.password).not.toBe(theirs!.password);
  await works(urls[0]!);
  const wrong = Object.assign(new URL(urls[0]!), { password: 'wrong' });
  await expect(as(wrong.href, (client) => client.query('select 1'))).rejects.toThrow();
});

test.each([
  ['no right to create roles', ''],
  ['CREATEROLE, but not that of the first owner', 'createrole'],
])('a role with %s gets all statements at once, and they run', async (_, attributes) => {
  const { url, admin, role } = await ownedBy(attributes, 'revoke all on database $db from public');
  const key = randomBytes(32);
  const sql = await printed(prepare(url, key));
  expect(sql).toContain(`grant ratchet_app to "${role}";`);
  expect(sql).toContain("password 'SCRAM-SHA-256$");
  expect(sql).not.toContain(loginRoleOf(key).password);
  await as(admin, (client) => client.query(sql));
  await works(await prepare(url, key));
});

test('an owner of the database grants CONNECT and the schema to the role that it creates', async () => {
  const { url } = await ownedBy('superuser', 'revoke all on database $db from public', 'drop schema public');
  await works(await prepare(url, randomBytes(32)));
});

test('a given role gets what it needs; what the owner may not grant, the error states', async () => {
  const { url, admin } = await ownedBy('createrole', 'revoke all on database $db from public');
  const name = `app user ${randomUUID().slice(0, 8)}`;
  const login = { name, password: null };
  const sql = await printed(migrate(url, log, { login }));
  await as(admin, (client) => client.query(sql));
  await migrate(url, log, { login });
  await as(admin, (client) => client.query(`alter role "${name}" password 'p@ss'`));
  await works(urlAs(url, name, 'p@ss'));
});

test('the printed SQL makes a whole database, and changes nothing when it runs again', async () => {
  const admin = await createDatabase('empty');
  const login = loginRoleOf(randomBytes(32));
  const database = new URL(admin).pathname.slice(1);
  const script = await migrationSql(login, database);
  await as(admin, (client) => client.query(script));
  await as(admin, (client) => client.query(script));
  await works(urlAs(admin, login.name, login.password));
  await migrate(admin, log, { login });
  expect(script).not.toContain(login.password);
});

test('grants that a restore left out are made again', async () => {
  const admin = await createDatabase();
  const url = await prepare(admin, randomBytes(32));
  await as(admin, async (client) => {
    await client.query(`revoke all on all tables in schema public from ratchet_app`);
    await client.query(`update pg_class set relacl = null where relname in ('jobs', 'secret_key_fingerprint')`);
    await client.query(`update pg_proc set proacl = null where proname = 'live_orgs'`);
  });
  await expect(works(url)).rejects.toMatchObject({ code: '42501' });
  await migrate(admin, log);
  await works(url);
});
