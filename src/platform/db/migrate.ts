import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { DatabaseStartError } from './errors.js';
import type { LoginRole } from './login-role.js';
import { explainRefusal, readDatabaseUrlOf, refuseReadOnly, selectWritable, type Writable } from './refusals.js';
import { ensureRoles, rolesSql } from './roles.js';
import { openClient, Route } from './route.js';
import { ofMigrations, startOptions } from './session-settings.js';

const folder = new URL('./migrations/', import.meta.url);
const lockId = 7_266_338;

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
  const names = (await readdir(from)).filter((name) => /^\d+_.*\.sql$/.test(name)).sort();
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
  /** The role of the service's connections; null: none, for a database that nobody serves. */
  login?: LoginRole | null;
  /** The remedy for the schema of another build, as a sentence without its full stop. */
  remedy?: string;
  /** Default: the migrations of this build. */
  from?: URL;
}

/**
 * Creates the roles and applies missing migrations, one transaction each, as the URL's role.
 * Concurrent callers wait. Returns the names of the applied ones. Throws a DatabaseStartError for
 * the schema of another build, before it changes anything.
 */
export async function migrate(url: string, log: Logger, options: MigrateOptions = {}): Promise<string[]> {
  const read = readDatabaseUrlOf('DATABASE_URL', url);
  try {
    const client = await openClient(new Route(url, (ofUrl) => startOptions(ofMigrations, ofUrl)), {
      application_name: 'ratchet-migrate',
    });
    try {
      return await migrateOn(client, log, options);
    } finally {
      await client.end();
    }
  } catch (error) {
    throw explainRefusal(error, read, 'DATABASE_URL');
  }
}

async function migrateOn(client: pg.Client, log: Logger, options: MigrateOptions): Promise<string[]> {
  const { login = null, from = folder } = options;
  const { remedy = 'name another database in DATABASE_URL, or run the build that made this one' } = options;
  const { rows: session } = await client.query<Writable>(selectWritable);
  refuseReadOnly(session[0]!, 'DATABASE_URL');
  await client.query('select pg_advisory_lock($1)', [lockId]);
  await ensureRoles(client, login);
  await client.query(createTable);
  const { rows } = await client.query<AppliedMigration>(selectApplied);
  const { problem, missing } = await schemaProblem(rows, from);
  if (problem !== null) throw new DatabaseStartError(`The database ${problem}: ${remedy}.`);
  for (const { name, sql, sha256 } of missing) {
    await client.query('begin');
    await client.query('insert into schema_migrations (name, sha256) values ($1, $2)', [name, sha256]);
    await client.query(sql);
    await client.query('commit');
    log.info({ migration: name }, 'migrated');
  }
  const { rowCount } = await client.query(lacksGrants);
  if (missing.length > 0 || rowCount) await client.query(await readGrants(from));
  return missing.map(({ name }) => name);
}

/**
 * All of it as SQL for an administrator: roles, then the migrations that the database lacks. It may
 * run again. `database`: the one that it is for.
 */
export async function migrationSql(login: LoginRole | null, database: string, from = folder): Promise<string> {
  const migrations = await readMigrations(from);
  const applied = migrations.map(({ name, sql, sha256 }) => {
    const [body, row] = [sql, `insert into schema_migrations (name, sha256) values ('${name}', '${sha256}')`];
    const lacks = `not exists (select from schema_migrations where name = '${name}')`;
    return `do $run$ begin if ${lacks} then\n${row};\nexecute $sql$\n${body}$sql$;\nend if; end $run$;`;
  });
  const settings = Object.entries(ofMigrations).map(([name, value]) => `set local ${name} = '${value}';`);
  const parts = [...settings, rolesSql(login, database), `${createTable};`, ...applied, await readGrants(from)];
  return `begin;\n${parts.join('\n')}commit;\n`;
}

const createTable =
  'create table if not exists schema_migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())';

/** A row where ratchet_app lacks a grant, as after a restore without them. */
const lacksGrants = `select where exists (
    select from pg_class where relnamespace = 'public'::regnamespace and relacl is null
       and oid = any (array(select to_regclass(t) from unnest('{jobs,secret_key_fingerprint,schema_migrations}'::text[]) t)))
  or exists (select from pg_proc where oid = to_regproc('live_orgs') and proacl is null)`;

const readGrants = async (from: URL): Promise<string> =>
  (await readFile(new URL('grants.sql', from), 'utf8')).replaceAll('\r\n', '\n');
