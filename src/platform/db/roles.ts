import pg from 'pg';
import { DatabaseStartError } from './errors.js';
import { verifier, type LoginRole } from './login-role.js';
import { errorCode, isReadOnly } from './postgres-errors.js';

/** A statement that must have run once, and a query that says whether it has. */
interface Step {
  sql: string;
  holds: string;
  /** The statement in another form, for a server that refuses the first. */
  otherwise?: string;
}

const name = (identifier: string): string => pg.escapeIdentifier(identifier);
const text = (value: string): string => pg.escapeLiteral(value);

const createApp: Step = {
  sql: 'create role ratchet_app nologin nosuperuser nocreatedb nocreaterole nobypassrls',
  holds: `select from pg_roles where rolname = 'ratchet_app'`,
};
const attributes = 'login noinherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls';

/** A verifier: the password itself would be in the server's log of statements. */
function createLogin({ name: login, password }: LoginRole): Step {
  const create = (secret: string) => `create role ${name(login)} ${attributes}${secret} in role ratchet_app`;
  const holds = `select from pg_roles where rolname = ${text(login)}`;
  if (password === null) return { sql: create(''), holds };
  return {
    sql: create(` password ${text(verifier(password))}`),
    // Neon, for one, takes no verifier.
    otherwise: create(` password ${text(password)}`),
    holds,
  };
}

/** What the login role needs, whoever made it. */
const grantsOf = (login: LoginRole, database: string): Step[] => [
  {
    sql: `grant ratchet_app to ${name(login.name)}`,
    holds: `select where pg_has_role(${text(login.name)}, 'ratchet_app', 'member')`,
  },
  {
    sql: `grant connect on database ${name(database)} to ${name(login.name)}`,
    holds: `select where has_database_privilege(${text(login.name)}, current_database(), 'connect')`,
  },
];

const useSchema: Step = {
  sql: 'grant usage on schema public to ratchet_app',
  holds: `select where has_schema_privilege('ratchet_app', 'public', 'usage')`,
};

/** Tables that another role restored or made. */
const ownTables = (owner: string, ownerOfTables: string): Step => ({
  sql: `grant ${name(ownerOfTables)} to ${name(owner)}`,
  holds: `select where pg_has_role(${text(ownerOfTables)}, 'usage')`,
});

/** The steps in the order in which they run; `owner`: the role that migrates. */
function stepsOf({ owner, database, ownerOfTables }: Names, login: LoginRole | null): Step[] {
  return [
    createApp,
    // Try it: since Postgres 16 a member of a role may still not be allowed to become it.
    { sql: `grant ratchet_app to ${name(owner)}`, holds: 'set role ratchet_app; reset role; select' },
    ...(login ? [createLogin(login), ...grantsOf(login, database)] : []),
    { sql: 'create schema public', holds: `select where to_regnamespace('public') is not null` },
    {
      sql: `grant usage, create on schema public to ${name(owner)}`,
      holds: `select where has_schema_privilege('public', 'usage') and has_schema_privilege('public', 'create')`,
    },
    useSchema,
    ...(ownerOfTables === null ? [] : [ownTables(owner, ownerOfTables)]),
  ];
}

interface Names {
  owner: string;
  database: string;
  /** null: there are no tables. */
  ownerOfTables: string | null;
}

/**
 * Creates the roles and grants what they need. What the role of the URL may not do, a
 * DatabaseStartError states at once, as statements for an administrator.
 */
export async function ensureRoles(client: pg.Client, login: LoginRole | null): Promise<void> {
  const { rows } = await client.query<Names>(
    `select current_user::text as owner, current_database()::text as database,
            (select pg_get_userbyid(relowner)::text from pg_class where oid = to_regclass('public.schema_migrations'))
              as "ownerOfTables"`,
  );
  const { owner, database } = rows[0]!;
  const refused: { sql: string; cause: Error }[] = [];
  for (const step of stepsOf(rows[0]!, login)) {
    const cause = await ensure(client, step);
    if (cause) refused.push({ sql: step.sql, cause });
  }
  if (refused.length === 0) return;
  const { cause } = refused[0]!;
  const statements = refused.map(({ sql }) => `${sql};`).join(' ');
  throw new DatabaseStartError(
    `The role ${owner} may not prepare the database (${cause.message}). Let an administrator of Postgres run this in the database ${database}, then start again: ${statements}`,
    { cause },
  );
}

/** Runs a step where it is needed; why the role may not; null: it holds. */
async function ensure(client: pg.Client, step: Step): Promise<Error | null> {
  if (await holds(client, step)) return null;
  const refusal = await refusalOf(client, step.sql);
  // Another process may have been faster, and without a right to grant there is only a warning.
  if (await holds(client, step)) return null;
  if (!step.otherwise || lacking.includes(errorCode(refusal))) return refusal ?? new Error('permission denied');
  const cause = await refusalOf(client, step.otherwise);
  if (await holds(client, step)) return null;
  throw new DatabaseStartError(
    `Postgres refuses to create the role of the service's connections (${(cause ?? refusal)?.message}): create one that can log in, run "grant ratchet_app to" it, and set RATCHET_APP_DATABASE_URL to its URL.`,
    { cause },
  );
}

async function refusalOf(client: pg.Client, sql: string): Promise<Error | null> {
  try {
    await client.query(sql);
    return null;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || isReadOnly(error)) throw error;
    return error;
  }
}

/** No right, or no role, which another form of the statement does not change. */
const lacking = ['42501', '42704', '0LP01', ''];

/** A role or schema that does not exist has no rights. */
const absent = ['42501', '42704', '22023', '3F000'];

async function holds(client: pg.Client, { holds }: Step): Promise<boolean> {
  try {
    const answers: unknown = await client.query(holds);
    return [answers].flat().some((answer) => (answer as pg.QueryResult).rowCount === 1);
  } catch (error) {
    if (absent.includes(errorCode(error))) return false;
    throw error;
  }
}

/** The same as SQL for an administrator, which may run again. */
export function rolesSql(login: LoginRole | null, database: string): string {
  const steps = [createApp, ...(login ? [createLogin(login), ...grantsOf(login, database)] : [])];
  const guarded = steps.map(({ sql, holds }) => `  if not exists (${holds}) then\n    ${sql};\n  end if;`);
  return `do $roles$ begin\n${guarded.join('\n')}\nend $roles$;\ngrant usage on schema public to ratchet_app;\n`;
}
