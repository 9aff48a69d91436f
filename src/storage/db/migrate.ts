import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import type { Logger } from 'pino';

const folder = new URL('./migrations/', import.meta.url);
const lockId = 7_266_338;

/** An error that the operator must fix; its message is one line and says how. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** The names of all migrations, in order. */
export async function migrationNames(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
}

/**
 * Creates the role `ratchet_app` (no login, no superuser) and applies missing migrations, one
 * transaction each, as the URL's role. Concurrent callers wait.
 */
export async function migrate(url: string, log: Logger): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'ratchet-migrate',
    connectionTimeoutMillis: 10_000,
  });
  // The next query rejects.
  client.on('error', () => undefined);
  const { host } = new URL(url);
  await client.connect().catch((cause: Error) => {
    throw new MigrationError(`Postgres at ${host} cannot be used (${cause.message}): check DATABASE_URL.`, { cause });
  });
  try {
    await client.query('select pg_advisory_lock($1)', [lockId]);
    await createRole(client);
    await client
      .query(
        'create table if not exists schema_migrations (name text primary key, applied_at timestamptz not null default now())',
      )
      .catch((cause: Error) => {
        throw new MigrationError(
          `Cannot create tables (${cause.message}): the role of DATABASE_URL needs CREATE on the schema public.`,
          { cause },
        );
      });
    await client.query('grant select on schema_migrations to ratchet_app');
    const { rows } = await client.query<{ name: string }>('select name from schema_migrations');
    const applied = new Set(rows.map((row) => row.name));
    for (const name of await migrationNames()) {
      if (applied.has(name)) continue;
      const sql = await readFile(new URL(name, folder), 'utf8');
      await client.query('begin');
      await client.query('insert into schema_migrations (name) values ($1)', [name]);
      await client.query(sql);
      await client.query('commit');
      log.info({ migration: name }, 'migrated');
    }
  } finally {
    await client.end();
  }
}

async function createRole(client: pg.Client): Promise<void> {
  // Roles belong to the cluster: another database's migration may create it concurrently.
  await client
    .query(
      `do $$ begin
         if not exists (select from pg_roles where rolname = 'ratchet_app') then
           create role ratchet_app nologin nosuperuser nocreatedb nocreaterole nobypassrls;
         end if;
       exception when duplicate_object or unique_violation then null;
       end $$`,
    )
    .catch((cause: Error) => {
      throw new MigrationError(
        `Cannot create the role ratchet_app (${cause.message}): have a superuser run "create role ratchet_app nologin; grant ratchet_app to ${client.user ?? 'your role'}" once, then start again.`,
        { cause },
      );
    });
  // Try it: since Postgres 16 a member of a role may still not be allowed to become it.
  const become = () => client.query('set role ratchet_app; reset role');
  await become().catch(async () => {
    await client
      .query('grant ratchet_app to current_user')
      .then(become)
      .catch((cause: Error) => {
        throw new MigrationError(
          `Cannot use the role ratchet_app (${cause.message}): have a superuser run "grant ratchet_app to ${client.user ?? 'your role'}" once, then start again.`,
          { cause },
        );
      });
  });
  await client.query('grant usage on schema public to ratchet_app');
}
