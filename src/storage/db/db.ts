import pg from 'pg';
import type { Logger } from 'pino';
import { BatchError, runBatch, type Statement } from './batch.js';

/** Runs statements on one connection. Statements sent without awaiting are pipelined. */
export interface Tx {
  /**
   * Returns the rows. A statement with a `name` is prepared once per connection: use it for
   * frequent statements that use an index. A name must always have the same text.
   */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[], name?: string): Promise<Row[]>;
}

/**
 * The connection to Postgres. Row-level security limits each transaction to one organization
 * (`org`), the API key with a given hash (`auth`), the open jobs (`worker`, for the reconciler), or
 * the names of all organizations (`operator`).
 */
export interface Db {
  org<T>(orgId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Like `org`, for statements that run very often: the plan of a named one is made once per
   * connection, for any values, and scans no table. `commit` commits behind the statements that
   * were sent, in their round trip; no other may follow.
   */
  orgHot<T>(orgId: string, work: (tx: Tx, commit: () => void) => Promise<T>): Promise<T>;
  /** Like `org`, but each statement is its own transaction and takes one round trip. */
  orgApart<T>(orgId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs statements in one transaction and one round trip; returns the rows of each. Rejects with a
   * BatchError if Postgres refuses one.
   */
  orgBatch(orgId: string, statements: readonly Statement[]): Promise<pg.QueryResultRow[][]>;
  auth<T>(keyHashHex: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  worker<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  operator<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Settings of every connection: the role without rights of its own, which overrides the URL's
 * `options`; timeouts, so that no dead connection holds a lock; and no scan of a table that has an
 * index to use, since statistics of a table that grew lately make it look small.
 */
const sessionOptions = [
  'role=ratchet_app',
  'idle_in_transaction_session_timeout=15000',
  'statement_timeout=25000',
  'enable_seqscan=off',
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** Connection settings for ratchet_app. The URL's `options` come first, so that ours win. */
export function asApp(url: string): pg.ClientConfig {
  const bare = new URL(url);
  const given = bare.searchParams.get('options');
  bare.searchParams.delete('options');
  return {
    connectionString: bare.href,
    options: given ? `${given} ${sessionOptions}` : sessionOptions,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  };
}

/** The rows that a transaction may see, and settings of its plans. */
type Settings = Record<string, string>;

/** Without them Postgres plans an exchange anew each time, for longer than it runs. */
const plannedOnce = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' };

/** Sends all statements of the current tick in one socket write. */
function sending(client: pg.PoolClient): pg.PoolClient {
  const { stream } = client.connection;
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
  return client;
}

/** One round trip: set_config takes no parameters in a simple query, so its values are escaped. */
function beginning(client: pg.PoolClient, settings: Settings): string {
  const sets = Object.entries(settings).map(([k, v]) => `set_config('${k}', ${client.escapeLiteral(v)}, true)`);
  return `begin; select ${sets.join()}`;
}

const int8 = 20;
const float8 = 701;

function parserOf(oid: number): (text: string) => unknown {
  return oid === int8 || oid === float8 ? Number : (pg.types.getTypeParser(oid, 'text') as (text: string) => unknown);
}

/** Connects as ratchet_app. `max`: size of the pool. */
export function connect(url: string, log: Logger, max = 10): Db {
  const pool = new pg.Pool({
    ...asApp(url),
    max,
    // Pipelined: the statements do not wait for `begin`.
    pipeline: true,
    query_timeout: 30_000,
    application_name: 'ratchet',
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  });
  // Without a listener an idle connection that breaks would end the process. The pool replaces it.
  let closing = false;
  pool.on('error', (err) => {
    if (!closing) log.warn({ err }, 'an idle database connection broke');
  });

  // A connection can break before the one who waited for it can listen; its next query rejects.
  pool.on('connect', (client) => client.on('error', () => undefined));

  async function withClient<T>(work: (client: pg.PoolClient, spoil: (error: Error) => void) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    const spoil = (error: Error) => void (broken = error);
    client.on('error', spoil);
    try {
      return await work(client, spoil);
    } finally {
      client.removeListener('error', spoil);
      client.release(broken);
    }
  }

  const run = <T>(settings: Settings, work: (tx: Tx, commit: () => void) => Promise<T>): Promise<T> =>
    withClient(async (client, spoil) => {
      let over = false;
      let committed: Promise<unknown> | null = null;
      const commit = (): Promise<unknown> => {
        over = true;
        if (!committed) {
          committed = sending(client).query('commit');
          // Awaited below, once the statements before it have ended.
          committed.catch(() => undefined);
        }
        return committed;
      };
      const query: Tx['query'] = async (text, values, name) => {
        // A pipelined statement failed: another transaction may own the connection by now.
        if (over) throw new Error('The transaction of this statement has ended.');
        return (await sending(client).query({ text, ...(values && { values }), ...(name && { name }) })).rows;
      };
      try {
        const begun = sending(client).query(beginning(client, settings));
        const [, result] = await Promise.all([begun, work({ query }, () => void commit())]);
        await commit();
        return result;
      } catch (error) {
        over = true;
        await client.query('rollback').catch(spoil);
        throw error;
      }
    });

  const orgBatch: Db['orgBatch'] = (orgId, statements) =>
    withClient((client) => runBatch(client, orgId, statements, parserOf));

  const apart = (orgId: string): Tx => ({
    async query<Row extends pg.QueryResultRow>(text: string, values?: unknown[], name?: string): Promise<Row[]> {
      try {
        const [rows] = await orgBatch(orgId, [{ text, ...(values && { values }), ...(name && { name }) }]);
        return rows as Row[];
      } catch (error) {
        throw error instanceof BatchError ? error.cause : error;
      }
    },
  });

  return {
    org: (orgId, work) => run({ 'app.org': orgId }, work),
    orgHot: (orgId, work) => run({ 'app.org': orgId, ...plannedOnce }, work),
    orgApart: (orgId, work) => work(apart(orgId)),
    orgBatch,
    auth: (hash, work) => run({ 'app.scope': 'auth', 'app.key_hash': hash }, work),
    worker: (work) => run({ 'app.scope': 'worker' }, work),
    operator: (work) => run({ 'app.scope': 'operator' }, work),
    close: () => {
      closing = true;
      return pool.end();
    },
  };
}
