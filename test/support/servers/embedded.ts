import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { migrate } from '../../../src/platform/db/migrate.js';
import { databaseUrl, workerId } from '../environment.js';

const template = 'ratchet_template';
const templateLock = 7_284_250;

/**
 * Creates a migrated or empty database; returns the superuser's URL. The next file of the worker or
 * the end of the run drops it.
 */
export function createDatabase(
  content: 'migrated' | 'empty' = 'migrated',
  serverUrl: string = databaseUrl(),
): Promise<string> {
  return administer(serverUrl, async (client) => {
    const url = new URL(serverUrl);
    await dropEarlier(client);
    if (content === 'migrated') await makeTemplate(client, url);
    url.pathname = `${prefix}${fileToken}_${randomUUID().slice(0, 8)}`;
    const from = content === 'migrated' ? template : 'template0';
    await client.query(`create database "${url.pathname.slice(1)}" template ${from}`);
    return url.href;
  });
}

/** Drops a database at once. */
export function dropDatabase(url: string, serverUrl: string): Promise<unknown> {
  const name = new URL(url).pathname.slice(1);
  return administer(serverUrl, (client) => client.query(`drop database "${name}" with (force)`));
}

async function administer<T>(serverUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const prefix = `test_${workerId}_`;
const fileToken = randomUUID().slice(0, 8);
let dropped = false;

// A worker runs one test file at a time, so databases of earlier files are unused.
async function dropEarlier(client: pg.Client): Promise<void> {
  if (dropped) return;
  const earlier = await client.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1) and not starts_with(datname, $2)',
    [prefix, `${prefix}${fileToken}`],
  );
  for (const { datname } of earlier.rows) await client.query(`drop database if exists "${datname}" with (force)`);
  dropped = true;
}

// Migrated once for all workers, under a draft name, so that the template is always complete.
async function makeTemplate(client: pg.Client, admin: URL): Promise<void> {
  await client.query('select pg_advisory_lock($1)', [templateLock]);
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [template]);
    if (rowCount) return;
    const draft = `${template}_new`;
    await client.query(`drop database if exists ${draft} with (force)`);
    await client.query(`create database ${draft}`);
    await migrate(Object.assign(new URL(admin), { pathname: draft }).href, pino({ level: 'warn' }));
    await client.query(`alter database ${draft} rename to ${template}`);
  } finally {
    await client.query('select pg_advisory_unlock($1)', [templateLock]);
  }
}
