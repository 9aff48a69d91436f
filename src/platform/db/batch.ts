import pg from 'pg';

/** A statement of a batch. With a `name` it is prepared once per connection. */
export interface Statement {
  text: string;
  values?: unknown[];
  name?: string;
}

/** Postgres refused a statement of a batch, and with it the whole batch; `cause` is its error. */
export class BatchError extends Error {
  override readonly name = 'BatchError';
  readonly index: number;
  constructor(index: number, cause: Error) {
    super(cause.message, { cause });
    this.index = index;
  }
}

/** A statement with its values in the form of the protocol. */
type Prepared = Statement & { values: unknown[] };
type Row = Record<string, unknown>;
/** Reads a value from its text. */
type Read = (text: string) => unknown;
type Columns = { name: string; read: Read }[];
type TypeParser = (oid: number) => Read;

/**
 * The used part of the inside of pg's connection: pg sends no statements together in one
 * transaction. `Wire` and `Batch` may go when it does.
 */
interface Wire {
  stream: { write(bytes: Buffer): void };
  /** Where each of the following sends its message. */
  _send(message: Buffer): void;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: unknown[] }): void;
  describe(message: { type: 'P'; name: '' }): void;
  execute(message: object): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
}

const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;
const scope: Statement = { name: 'scope', text: `select set_config('app.org', $1, true)` };

/** Prepared statements of each connection; the columns are known after the first execution. */
const prepared = new WeakMap<Wire, Map<string, Columns | null>>();

/**
 * Runs statements in one transaction of an organization and one round trip, without `begin` and
 * `commit`: the protocol commits at its Sync. Rejects with a BatchError if Postgres refuses one,
 * and with the connection's error.
 */
export function runBatch(
  client: pg.ClientBase,
  orgId: string,
  statements: readonly Statement[],
  parserOf: TypeParser,
): Promise<Row[][]> {
  return new Promise((resolve, reject) => {
    // Before anything is sent: a value that has no text must not break off a batch.
    const all = [{ ...scope, values: [orgId] }, ...statements].map((statement) => ({
      ...statement,
      // pg knows its own prepared statements only.
      ...(statement.name !== undefined && { name: `batch_${statement.name}` }),
      values: (statement.values ?? []).map(prepareValue),
    }));
    const batch = new Batch(all, parserOf, (error, rows) => {
      if (!error) resolve(rows!.slice(1));
      else reject(error instanceof pg.DatabaseError ? new BatchError(Math.max(0, batch.done - 1), error) : error);
    });
    client.query(batch);
  });
}

/** The pool pipelines only its own class of queries. */
class Batch extends pg.Query {
  callback: (error: Error | null, rows?: Row[][]) => void;
  /** Statements that Postgres has executed. */
  done = 0;
  private readonly results: Row[][];
  private readonly columns: (Columns | null)[];
  private readonly statements: readonly Prepared[];
  private readonly parserOf: TypeParser;
  /** Forgets the statements that this batch prepares. */
  private forget: () => void = () => undefined;

  constructor(statements: readonly Prepared[], parserOf: TypeParser, callback: Batch['callback']) {
    super({ text: '' });
    this.statements = statements;
    this.parserOf = parserOf;
    this.callback = callback;
    this.results = statements.map(() => []);
    this.columns = statements.map(() => null);
  }

  override submit = (connection: unknown): void => {
    const wire = connection as Wire;
    const known = prepared.get(wire) ?? new Map<string, Columns | null>();
    prepared.set(wire, known);
    const fresh: string[] = [];
    this.forget = () => fresh.forEach((name) => known.delete(name));
    const messages: Buffer[] = [];
    // The messages of the connection, gathered for one write to the socket.
    const gathered = Object.assign(Object.create(wire) as Wire, { _send: (message: Buffer) => messages.push(message) });
    for (const [at, { name = '', text, values }] of this.statements.entries()) {
      if (name === '' || !known.has(name)) {
        // A failed batch may have prepared it; closing an unknown statement is no error.
        if (name !== '') gathered.close({ type: 'S', name });
        gathered.parse({ name, text });
        if (name !== '') fresh.push(name);
        if (name !== '') known.set(name, null);
      }
      gathered.bind({ statement: name, values });
      this.columns[at] = known.get(name) ?? null;
      if (this.columns[at] === null) gathered.describe({ type: 'P', name: '' });
      gathered.execute({});
    }
    gathered.sync();
    wire.stream.write(Buffer.concat(messages));
  };

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.columns[this.done] = fields.map(({ name, dataTypeID }) => ({ name, read: this.parserOf(dataTypeID) }));
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const columns = this.columns[this.done]!;
    const row: Row = {};
    for (const [at, { name, read }] of columns.entries()) {
      const text = fields[at] ?? null;
      row[name] = text === null ? null : read(text);
    }
    this.results[this.done]!.push(row);
  }

  handleCommandComplete(_message: unknown, connection: Wire): void {
    const { name } = this.statements[this.done]!;
    if (name !== undefined) prepared.get(connection)?.set(name, this.columns[this.done] ?? []);
    this.done += 1;
  }

  handleReadyForQuery(): void {
    this.callback(null, this.results);
  }

  handleError(error: Error): void {
    this.forget();
    this.callback(error);
  }
}
