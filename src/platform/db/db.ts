import pg from 'pg';
import type { Logger } from 'pino';
import { BatchError, runBatch, type Statement } from './batch.js';
import { answerMs, connectMs, Route } from './route.js';
import { ofService, startOptions } from './session-settings.js';
import { Transaction, type Settings, type Tx } from './transaction.js';

export type { Tx } from './transaction.js';

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
   * Runs all statements of `work`, which gets no rows, in one transaction and one round trip after
   * its end.
   */
  orgTogether<T>(orgId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
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

/** The way to the database as ratchet_app. */
export const routeOfService = (url: string): Route => new Route(url, (ofUrl) => startOptions(ofService, ofUrl));

/** Without them Postgres plans an exchange anew each time, for longer than it runs. */
const plannedOnce = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' };

const int8 = 20;
const float8 = 701;

function parserOf(oid: number): (text: string) => unknown {
  return oid === int8 || oid === float8 ? Number : (pg.types.getTypeParser(oid, 'text') as (text: string) => unknown);
}

/** Connects as ratchet_app. `max`: size of the pool. */
export function connect(url: string, log: Logger, max = 10): Db {
  const route = routeOfService(url);
  const pool = createPool(route, log, max);
  const withClient = <T>(work: Work<T>): Promise<T> => withClientOf(pool, route, work);
  const run = <T>(settings: Settings, work: (tx: Tx, commit: () => void) => Promise<T>): Promise<T> =>
    withClient(async (client, spoil) => {
      const transaction = new Transaction(client);
      try {
        const begun = transaction.begin(settings);
        const [, result] = await Promise.all([begun, work(transaction, () => void transaction.commit())]);
        await transaction.commit();
        return result;
      } catch (error) {
        await transaction.rollBack().catch(spoil);
        throw error;
      }
    });
  const orgBatch: Db['orgBatch'] = (orgId, statements) =>
    withClient(async (client, spoil) => {
      try {
        return await runBatch(client, orgId, statements, parserOf);
      } catch (error) {
        // No answer came: it would be taken for that of the next batch.
        if (!(error instanceof BatchError)) spoil(error as Error);
        throw error;
      }
    });

  return {
    org: (orgId, work) => run({ 'app.org': orgId }, work),
    orgHot: (orgId, work) => run({ 'app.org': orgId, ...plannedOnce }, work),
    orgApart: (orgId, work) => work(eachAlone((statement) => orgBatch(orgId, [statement]))),
    async orgTogether(orgId, work) {
      const statements: Statement[] = [];
      const result = await work(gathered(statements));
      if (statements.length > 0) await orgBatch(orgId, statements).catch(throwCause);
      return result;
    },
    orgBatch,
    auth: (hash, work) => run({ 'app.scope': 'auth', 'app.key_hash': hash }, work),
    worker: (work) => run({ 'app.scope': 'worker' }, work),
    operator: (work) => run({ 'app.scope': 'operator' }, work),
    close: () => pool.end(),
  };
}

function createPool(route: Route, log: Logger, max: number): pg.Pool {
  class Client extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, ...route.here });
    }
  }
  const pool = new pg.Pool({
    Client,
    // The pool waits for the promise, which its types do not say.
    // eslint-disable-next-line @typescript-eslint/no-misused-promises
    onConnect: (client) => route.prepare(client),
    connectionTimeoutMillis: connectMs,
    max,
    // Pipelined: the statements do not wait for `begin`.
    pipeline: true,
    query_timeout: answerMs,
    application_name: 'ratchet',
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  });
  // Without a listener an idle connection that breaks would end the process. The pool replaces it.
  pool.on('error', (err) => {
    if (!pool.ending) log.warn({ err }, 'an idle database connection broke');
  });
  // A connection can break before the one who waited for it can listen; its next query rejects.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Works on a connection of the pool. `spoil`: it cannot be used again. */
type Work<T> = (client: pg.PoolClient, spoil: (error: Error) => void) => Promise<T>;

async function withClientOf<T>(pool: pg.Pool, route: Route, work: Work<T>): Promise<T> {
  const client = await route.connect(() => pool.connect());
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

/** Runs each statement as a batch of its own. */
function eachAlone(run: (statement: Statement) => Promise<pg.QueryResultRow[][]>): Tx {
  return {
    async query<Row extends pg.QueryResultRow>(text: string, values?: unknown[], name?: string): Promise<Row[]> {
      const [rows] = await run(statementOf(text, values, name)).catch(throwCause);
      return rows as Row[];
    },
  };
}

/** Adds each statement to those that run later. */
function gathered(statements: Statement[]): Tx {
  return {
    query(text, values, name) {
      statements.push(statementOf(text, values, name));
      return Promise.resolve([]);
    },
  };
}

function statementOf(text: string, values?: unknown[], name?: string): Statement {
  return { text, ...(values && { values }), ...(name && { name }) };
}

function throwCause(error: unknown): never {
  throw error instanceof BatchError ? error.cause : error;
}
