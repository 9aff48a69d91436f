import pg from 'pg';
import type { Logger } from 'pino';

/** Runs statements on one connection. What is asked without waiting is sent at once and answered in turn. */
export interface Tx {
  /**
   * Answers the rows. With a `name` the statement is parsed and planned once a connection, not at each call: for those
   * that are run all the time and find their rows by an index, whatever the tables hold. A name stands for one text.
   */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[], name?: string): Promise<Row[]>;
}

/**
 * The connection to Postgres. Every transaction states whose rows it may see, as row-level security enforces:
 * one organization's (`org`), the one API key that hashes to what was presented (`auth`), or the list of open jobs
 * (`worker`, for the reconciler).
 */
export interface Db {
  org<T>(orgId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** As `org`, but each statement is a transaction of its own, and one round trip: for what needs no more. */
  orgApart<T>(orgId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  auth<T>(keyHashHex: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  worker<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Resolves when the database answers; rejects with its error. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * What every connection of the service is: the role without rights of its own, whatever the URL's own `options` say; and
 * none that outlives its process or its network with a lock in its hands.
 */
const sessionOptions = [
  'role=ratchet_app',
  'idle_in_transaction_session_timeout=15000',
  'statement_timeout=25000',
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=5',
  'tcp_keepalives_count=3',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** How to connect as ratchet_app. The URL's `options` come first, so that ours win. */
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

/** Whose rows a transaction may see. */
type Settings = Record<string, string>;

/** One round trip: set_config takes no parameters in a simple query, so its values are escaped literals. */
function beginning(client: pg.PoolClient, settings: Settings): string {
  const sets = Object.entries(settings).map(([k, v]) => `select set_config('${k}', ${client.escapeLiteral(v)}, true)`);
  return ['begin', ...sets].join('; ');
}

const int8 = 20;
const float8 = 701;

/** Connects as ratchet_app, the role without rights of its own. `max`: connections in the pool. */
export function connect(url: string, log: Logger, max = 10): Db {
  const pool = new pg.Pool({
    ...asApp(url),
    max,
    // What follows need not wait for `begin`, nor for what it does not depend on.
    pipeline: true,
    query_timeout: 30_000,
    application_name: 'ratchet',
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        oid === int8 || oid === float8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  });
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  let closing = false;
  pool.on('error', (err) => {
    if (!closing) log.warn({ err }, 'an idle database connection broke');
  });

  async function run<T>(settings: Settings, how: 'together' | 'apart', work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    const onError = (error: Error) => (broken = error);
    client.on('error', onError);
    const begin = () => client.query(beginning(client, settings));
    const commit = () => client.query('commit');
    // After a statement that has failed, Postgres takes the commit for a rollback.
    const alone = async (asked: pg.QueryConfig) => (await Promise.all([begin(), client.query(asked), commit()]))[1];
    let over = false;
    const query: Tx['query'] = async (text, values, name) => {
      // Of statements that were sent together one has failed: the connection is about to be somebody else's.
      if (over) throw new Error('The transaction of this statement has ended.');
      const asked = { text, ...(values && { values }), ...(name && { name }) };
      return (await (how === 'apart' ? alone(asked) : client.query(asked))).rows;
    };
    try {
      const [, result] = await Promise.all([how === 'together' && begin(), work({ query })]);
      over = true;
      if (how === 'together') await commit();
      return result;
    } catch (error) {
      over = true;
      if (how === 'together') await client.query('rollback').catch((rollback: Error) => (broken = rollback));
      throw error;
    } finally {
      client.removeListener('error', onError);
      client.release(broken);
    }
  }

  return {
    org: (orgId, work) => run({ 'app.org': orgId }, 'together', work),
    orgApart: (orgId, work) => run({ 'app.org': orgId }, 'apart', work),
    auth: (hash, work) => run({ 'app.scope': 'auth', 'app.key_hash': hash }, 'together', work),
    worker: (work) => run({ 'app.scope': 'worker' }, 'together', work),
    ping: async () => {
      await pool.query('select 1');
    },
    close: () => {
      closing = true;
      return pool.end();
    },
  };
}
