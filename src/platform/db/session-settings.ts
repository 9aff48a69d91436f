/**
 * The settings of connections. A database, a role or the server may carry other values of any of
 * them; the options of a connection's start win over those.
 */

/** The values on which the meaning of a statement, or of its result, depends. */
const meaning = {
  // The schema of all tables.
  search_path: 'public',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  // The shortest text that is exactly the number.
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  row_security: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // No notices of the server: nothing reads them.
  client_min_messages: 'warning',
  lock_timeout: '0',
};

/**
 * Settings of the service's connections: the role without rights of its own; timeouts, so that no
 * dead connection holds a lock; and no scan of a table that has an index to use, since statistics
 * of a table that grew lately make it look small.
 */
export const ofService = {
  role: 'ratchet_app',
  ...meaning,
  // What policies read, each transaction sets for itself.
  'app.org': '',
  'app.scope': '',
  'app.key_hash': '',
  'app.audit_days': '',
  idle_in_transaction_session_timeout: '15000',
  statement_timeout: '25000',
  enable_seqscan: 'off',
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '0',
};

/** Settings of migrations, which take as long as they need. */
export const ofMigrations = {
  ...meaning,
  idle_in_transaction_session_timeout: '0',
  statement_timeout: '0',
  default_table_access_method: 'heap',
};

/**
 * Switches off the limits that not every version of Postgres knows, so that no option can name
 * them: of idle connections since 14, of transactions since 17. Waits for the disk at each commit,
 * and for standbys where the server says so. Returns whether it may write.
 */
export const prepareSession = `select current_setting('transaction_read_only')::boolean as "isReadOnly",
  (select count(set_config(name, '0', false)) from pg_settings
    where name in ('idle_session_timeout', 'transaction_timeout') and setting <> '0'),
  case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', false) end`;

/** The start-up parameter `options`. Those of the URL come first, so that ours win. */
export function startOptions(settings: Record<string, string>, ofUrl: string | null): string {
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`);
  return [...(ofUrl ? [ofUrl] : []), ...ours].join(' ');
}
