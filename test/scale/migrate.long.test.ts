import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { urlAs } from '../../src/platform/db/url.js';
import { Api } from '../support/api.js';
import { databaseUrl as serverUrl } from '../support/environment.js';
import { startFakeContainer, type FakeContainer } from '../support/fakes/container.js';
import { startCluster, type Cluster } from '../support/servers/cluster.js';
import { createDatabase, dropDatabase } from '../support/servers/embedded.js';
import { refusedRole, startTree, type Tree } from '../support/servers/tree.js';
import { until } from '../support/until.js';

// `ratchet migrate-database` as a deployment runs it: apart from processes that own nothing.

const program = join(import.meta.dirname, '../../dist/src/cli/ratchet.js');
const started: Tree[] = [];
let cluster: Cluster;
let box: FakeContainer;
let owner: string;
/** A role that may do nothing but log in. */
let app: string;

beforeAll(async () => {
  cluster = await startCluster();
  box = await startFakeContainer();
  const admin = cluster.env['DATABASE_URL']!;
  const id = randomUUID().slice(0, 8);
  const database = new URL(admin).pathname.slice(1);
  await query(admin, `create role "owner-${id}" login createrole password 'own'`);
  // Another database of the server has made the role: its administrator lets this owner grant it.
  await dropDatabase(await createDatabase(), serverUrl());
  await query(admin, `grant ratchet_app to "owner-${id}" with admin option`);
  await query(admin, `create role "app-${id}" login password 'app'`);
  await query(admin, `alter database "${database}" owner to "owner-${id}"`);
  owner = urlAs(admin, `owner-${id}`, 'own');
  app = urlAs(admin, `app-${id}`, 'app');
}, 60_000);
afterAll(async () => {
  await Promise.all(started.map((role) => role.kill()));
  await box.close();
  await cluster.close();
}, 60_000);

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Runs `ratchet migrate-database`; returns its output. */
async function migrate(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { PATH = '' } = process.env;
  const own = { PATH, RATCHET_SECRET_KEY: cluster.env['RATCHET_SECRET_KEY']!, ...env };
  const child = spawn(process.execPath, [program, 'migrate-database', ...args], {
    env: own,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(code).toBe(0);
  return printed;
}

/** Tables, columns, constraints, indexes, policies, functions and grants of a database. */
const schemaOf = (url: string) =>
  query<{ line: string }>(
    url,
    `select format('%s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull) as line
       from pg_attribute a join pg_class c on c.oid = attrelid
       where relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped
     union all select format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
       where connamespace = 'public'::regnamespace
     union all select indexdef from pg_indexes where schemaname = 'public'
     union all select format('%s %s %s %s %s', tablename, policyname, roles, qual, with_check) from pg_policies
     union all select pg_get_functiondef(p.oid) from pg_proc p where pronamespace = 'public'::regnamespace
     union all select format('%s %s', table_name, privilege_type) from information_schema.role_table_grants
       where grantee = 'ratchet_app'
     order by 1`,
  );

test('a service without rights of the owner is refused, starts after the migration, and runs a job', async () => {
  const pods = { ...cluster.env, DATABASE_URL: '', RATCHET_APP_DATABASE_URL: app, PORT: '0' };
  expect(await refusedRole('serve', pods)).toMatchObject({ code: 1, level: 60 });

  const both = { DATABASE_URL: owner, RATCHET_APP_DATABASE_URL: app };
  expect(await migrate(both)).toMatch(/^Migrated: 0001_initial/);
  expect(await migrate(both)).toMatch(/up to date/);

  const api = await startTree(pods, { command: 'serve' });
  started.push(api);
  started.push(await startTree({ ...pods, RATCHET_PUBLIC_URL: api.url }, { command: 'worker' }));
  const client = new Api(api.url, cluster.apiKey);
  const policy = { provider: 'local', model: 'local' };
  const job = { container_url: box.url, app_id: 'a', env_name: 'e', seeds: [0, 1], policy };
  const { job_id: id } = await client.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', job);
  await until('the job has completed', async () => {
    const { status } = await client.call<{ status: string }>('GET', `/api/v1/offline/jobs/${id}`);
    return status === 'completed';
  });
  await expect(query(app, 'create table public.mine ()')).rejects.toMatchObject({ code: '42501' });
}, 120_000);

test('the printed SQL, run by another client, makes the same schema', async () => {
  const other = await createDatabase('empty', serverUrl());
  try {
    const sql = await migrate({ DATABASE_URL: other }, '--print-sql');
    await query(other, sql);
    const [printed, migrated] = await Promise.all([schemaOf(other), schemaOf(owner)]);
    expect(printed.length).toBeGreaterThan(100);
    expect(printed).toEqual(migrated);
    // Which a start takes as its own.
    expect(await migrate({ DATABASE_URL: other })).toMatch(/up to date/);
  } finally {
    await dropDatabase(other, serverUrl());
  }
}, 60_000);
