import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import type { Logger } from 'pino';

const folder = new URL('./migrations/', import.meta.url);
const lockId = 7_266_338;

/** An error that the operator must fix; its message is one line and says how. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

interface Migration {
  name: string;
  sql: string;
  sha256: string;
}

/** A row of schema_migrations. */
export interface AppliedMigration {
  name: string;
  /** null: applied by a build that kept no hashes. */
  sha256: string | null;
}

/** Reads the applied migrations, also from a table of an earlier form. */
export const selectApplied = `select name, to_jsonb(m) ->> 'sha256' as sha256 from schema_migrations m`;

async function readMigrations(from: URL): Promise<Migration[]> {
  const names = (await readdir(from)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = (await readFile(new URL(name, from), 'utf8')).replaceAll('\r\n', '\n');
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Why the schema is not that of this build, or null; and the migrations that are not applied. */
export async function schemaProblem(
  applied: readonly AppliedMigration[],
  from = folder,
): Promise<{ problem: string | null; missing: Migration[] }> {
  const migrations = await readMigrations(from);
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  const unknown = applied.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  const changed = applied.filter(({ name, sha256 }) => known.has(name) && known.get(name)!.sha256 !== sha256);
  const present = new Set(applied.map(({ name }) => name));
  const problem =
    unknown.length > 0
      ? `has ${unknown.join(', ')} of a newer build`
      : changed.length > 0
        ? `has another ${changed.map(({ name }) => name).join(', ')} than this build`
        : null;
  return { problem, missing: migrations.filter(({ name }) => !present.has(name)) };
}

interface MigrateOptions {
  /** The remedy for the schema of another build, as a sentence without its full stop. */
  remedy?: string;
  /** Default: the migrations of this build. */
  from?: URL;
}

/**
 * Creates the role `ratchet_app` (no login, no superuser) and applies missing migrations, one
 * transaction each, as the URL's role. Concurrent callers wait. Throws a MigrationError for the
 * schema of another build, before it changes anything.
 */
export async function migrate(
  url: string,
  log: Logger,
  { remedy = 'name another database in DATABASE_URL, or run the build that made this one', from }: MigrateOptions = {},
): Promise<void> {
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
        'create table if not exists schema_migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
      )
      .catch((cause: Error) => {
        throw new MigrationError(
          `Cannot create tables (${cause.message}): the role of DATABASE_URL needs CREATE on the schema public.`,
          { cause },
        );
      });
    await client.query('grant select on schema_migrations to ratchet_app');
    const { rows } = await client.query<AppliedMigration>(selectApplied);
    const { problem, missing } = await schemaProblem(rows, from);
    if (problem !== null) throw new MigrationError(`The database ${problem}: ${remedy}.`);
    for (const { name, sql, sha256 } of missing) {
      await client.query('begin');
      await client.query('insert into schema_migrations (name, sha256) values ($1, $2)', [name, sha256]);
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
