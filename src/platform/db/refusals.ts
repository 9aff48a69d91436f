/** Errors of the database at a start, as one line that says what to do. */
import { isNativeError } from 'node:util/types';
import pg from 'pg';
import { DatabaseStartError } from './errors.js';
import { derivedPrefix } from './login-role.js';
import { errorCode, isReadOnly, isTransient } from './postgres-errors.js';
import { encryptions } from './tls.js';
import { readDatabaseUrl, shownServers, type DatabaseUrl } from './url.js';

/** The settings that name the database. */
export type UrlSetting = 'DATABASE_URL' | 'RATCHET_APP_DATABASE_URL';

/** Reads a URL and the files that it names; the error names its setting. */
export function readDatabaseUrlOf(setting: UrlSetting, url: string): DatabaseUrl {
  try {
    const read = readDatabaseUrl(url);
    encryptions(read.tls);
    return read;
  } catch (cause) {
    throw new DatabaseStartError(`${setting} ${(cause as Error).message}.`, { cause });
  }
}

const name = (identifier: string): string => pg.escapeIdentifier(identifier);
const migrateAgain =
  'Run "ratchet migrate-database" with the DATABASE_URL of their owner, or hand an administrator the output of "ratchet migrate-database --print-sql"';

/** An error without a line of its own stays as it is. */
export function explainRefusal(error: unknown, url: DatabaseUrl, setting: UrlSetting): unknown {
  if (!isNativeError(error) || error instanceof DatabaseStartError) return error;
  const at = `Postgres at ${shownServers(url)}`;
  const user = url.user ?? 'the_role';
  const database = url.database ?? user;
  const line = (text: string) => new DatabaseStartError(text, { cause: error });
  const { message } = error;
  const code = errorCode(error);
  if (isReadOnly(error)) return line(`${at} cannot be written (${message}): name the primary in ${setting}.`);
  if (code === '28P01' || code === '28000')
    return line(
      `${at} refuses the role ${user} (${message}): check ${setting}, and that pg_hba.conf admits it${loginAdvice(url)}.`,
    );
  if (code === '3D000')
    return line(
      `${at} has no such database (${message}). Let an administrator run: create database ${name(database)};`,
    );
  if (code === '42501' && message.includes('for database'))
    return line(
      `${at} refuses the role ${user} (${message}). Let an administrator run: grant connect on database ${name(database)} to ${name(user)};`,
    );
  if (code === '42501' && message.includes('set role'))
    return line(
      `The role ${user} may not become ratchet_app (${message}). ${migrateAgain}. Where the database is migrated already, let an administrator run: grant ratchet_app to ${name(user)};`,
    );
  if (code === '42501' && message.includes('for schema'))
    return line(
      `${at} refuses the role ratchet_app (${message}). Let an administrator run: grant usage on schema public to ratchet_app;`,
    );
  if (code === '42501' && /for (table|sequence|function|view|relation)/.test(message))
    return line(`The tables lack the grants of ratchet_app (${message}). ${migrateAgain}.`);
  if (['42P01', '42883', '3F000'].includes(code) || message.includes('"ratchet_app" does not exist'))
    return line(`The database lacks the tables or the roles of Ratchet (${message}). ${migrateAgain}.`);
  if (code === '53300')
    return line(`${at} has no free connection (${message}): raise max_connections, or end other connections.`);
  if (error instanceof pg.DatabaseError) return line(`${at} refuses the start (${message}${detailOf(error)}).`);
  if (isTransient(error) || isOfConnection.test(code) || isOfHandshake.test(message))
    return line(`${at} cannot be used (${message || code}): check ${setting}${tlsAdvice(code, message)}.`);
  return error;
}

function loginAdvice({ user, password }: DatabaseUrl): string {
  if (user?.startsWith(derivedPrefix)) return '; "ratchet migrate-database" creates it for its RATCHET_SECRET_KEY';
  const isSpecial = /[#@/?:%\s[\]]/.test(password ?? '');
  return isSpecial ? '; percent-encode special characters of the password, such as # (%23) and @ (%40)' : '';
}

const detailOf = ({ detail }: pg.DatabaseError): string => (detail === undefined ? '' : `; ${detail}`);

/** Codes of the system and of TLS. */
const isOfConnection = /^(E[A-Z]|CERT_|UNABLE_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME)/;
/** Errors of `pg` without a code: of TLS, and of a missing password. */
const isOfHandshake = /SSL|TLS|^SASL/;

const tlsAdvice = (code: string, message: string): string =>
  /^(UNABLE_|SELF_SIGNED|DEPTH_ZERO)/.test(code)
    ? ' and name the certificate of its authority by sslrootcert=FILE'
    : message.includes('does not support SSL')
      ? ' or set sslmode=disable'
      : '';

/** Whether a session may write, and what says so. */
export interface Writable {
  isStandby: boolean;
  isReadOnly: boolean;
  source: string;
  role: string;
  database: string;
}

export const selectWritable = `select pg_is_in_recovery() as "isStandby", source,
    current_setting('transaction_read_only')::boolean as "isReadOnly",
    session_user::text as role, current_database()::text as database
  from pg_settings where name = 'default_transaction_read_only'`;

/** Refuses a standby, and a database that was told to refuse changes, before anything is tried. */
export function refuseReadOnly({ isStandby, isReadOnly, source, role, database }: Writable, named: UrlSetting): void {
  if (isStandby) throw new DatabaseStartError(`Postgres is a standby, which only reads: name the primary in ${named}.`);
  if (!isReadOnly) return;
  const setting = 'default_transaction_read_only';
  const undone: Record<string, string> = {
    user: `alter role ${name(role)} reset ${setting}`,
    'database user': `alter role ${name(role)} in database ${name(database)} reset ${setting}`,
    database: `alter database ${name(database)} reset ${setting}`,
  };
  const sql = undone[source] ?? `alter database ${name(database)} set ${setting} = off`;
  throw new DatabaseStartError(
    `The database ${database} only reads: ${setting} is on, as where a disk is nearly full. Once it may write again, let an administrator run: ${sql};`,
  );
}
