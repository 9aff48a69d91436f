import type pg from 'pg';

/** Runs statements on one connection. Statements sent without awaiting are pipelined. */
export interface Tx {
  /**
   * Returns the rows. A statement with a `name` is prepared once per connection: use it for
   * frequent statements that use an index. A name must always have the same text.
   */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[], name?: string): Promise<Row[]>;
}

/** The rows that a transaction may see, and settings of its plans. */
export type Settings = Record<string, string>;

/** A transaction that owns its connection from `begin` to its end; its statements are pipelined. */
export class Transaction implements Tx {
  readonly #client: pg.PoolClient;
  /** Whether it was committed or rolled back: another transaction may own the connection by now. */
  #isOver = false;
  #committed: Promise<unknown> | null = null;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  /** One round trip. set_config takes no parameters in a simple query: its values are escaped. */
  begin(settings: Settings): Promise<unknown> {
    const sets = Object.entries(settings).map(
      ([name, value]) => `set_config('${name}', ${this.#client.escapeLiteral(value)}, true)`,
    );
    return sending(this.#client).query(`begin; select ${sets.join()}`);
  }

  /** An arrow function: a Tx may be taken apart. */
  readonly query: Tx['query'] = async (text, values, name) => {
    // A pipelined statement failed, and its caller goes on.
    if (this.#isOver) throw new Error('The transaction of this statement has ended.');
    return (await sending(this.#client).query({ text, ...(values && { values }), ...(name && { name }) })).rows;
  };

  /** Commits once, behind the statements that were sent. */
  commit(): Promise<unknown> {
    this.#isOver = true;
    if (!this.#committed) {
      this.#committed = sending(this.#client).query('commit');
      // Whoever ends the transaction awaits it, once the statements before it have ended.
      this.#committed.catch(() => undefined);
    }
    return this.#committed;
  }

  rollBack(): Promise<unknown> {
    this.#isOver = true;
    return this.#client.query('rollback');
  }
}

/** Sends all statements of the current tick in one socket write. */
function sending(client: pg.PoolClient): pg.PoolClient {
  const { stream } = client.connection;
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
  return client;
}
