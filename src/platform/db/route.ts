import pg from 'pg';
import { errorCode, isCannotConnectNow, isReadOnly, isWrongPassword } from './postgres-errors.js';
import { prepareSession } from './session-settings.js';
import { encryptions, type Encryption } from './tls.js';
import { readDatabaseUrl, type Server } from './url.js';

/** One way to a server: its address, and with or without TLS. */
interface Way {
  server: Server;
  ssl: Encryption;
}

/** For a connection to be there, before the next way is tried. */
export const connectMs = 10_000;
/** For the answer to a statement of the service, which Postgres itself ends earlier. */
export const answerMs = 30_000;

/**
 * The ways of a URL to its database, as in libpq: each of its hosts, with and without TLS where the
 * mode allows both. New connections begin with the way that was good last.
 */
export class Route {
  readonly #ways: readonly Way[];
  readonly #settings: pg.ClientConfig;
  readonly #needsPrimary: boolean;
  #at = 0;

  /** `options`: for the start of each connection. */
  constructor(url: string, optionsOf: (ofUrl: string | null) => string) {
    const read = readDatabaseUrl(url);
    const { user, password, database, applicationName, channelBinding, tls } = read;
    const overTls = encryptions(tls);
    this.#ways = read.servers.flatMap((server) =>
      (server.host?.startsWith('/') ? [false as const] : overTls).map((ssl) => ({ server, ssl })),
    );
    this.#needsPrimary = read.servers.length > 1;
    this.#settings = {
      ...(user !== null && { user }),
      ...(password !== null && { password }),
      ...(database !== null && { database }),
      ...(applicationName !== null && { application_name: applicationName }),
      ...(tls.sslnegotiation === 'direct' && { sslnegotiation: 'direct' as const }),
      options: optionsOf(read.options),
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      // The listening connection sends nothing by which it would notice a dead network.
      keepAliveInitialDelayMillis: 10_000,
      ...(channelBinding && { enableChannelBinding: true }),
    };
  }

  /** The way of the next connection. */
  get here(): pg.ClientConfig {
    const { server, ssl } = this.#ways[this.#at]!;
    const { host, port, address } = server;
    const name = address !== null && host !== null && ssl !== false ? { servername: host, host } : {};
    const target = address ?? host;
    return { ...this.#settings, ...(target !== null && { host: target }), port, ssl: ssl && { ...ssl, ...name } };
  }

  /** Connects by each way in turn until one is good; rejects with a server's answer if one came. */
  async connect<Client>(connect: () => Promise<Client>): Promise<Client> {
    const first = this.#at;
    const tried = new Set<number>();
    let answer: Error | undefined;
    for (;;) {
      const from = this.#at;
      tried.add(from);
      try {
        return await connect();
      } catch (error) {
        if (error instanceof pg.DatabaseError) answer ??= error;
        const next = this.#after(from, error);
        const isOver = next === null || tried.has(next);
        // New connections begin there, unless another one has found a way meanwhile.
        if (this.#at === from) this.#at = isOver ? first : next;
        if (isOver) throw answer ?? error;
      }
    }
  }

  /** Prepares a new connection; rejects with one of several servers that does not write. */
  async prepare(client: pg.ClientBase): Promise<void> {
    const { rows } = await client.query<{ isReadOnly: boolean }>(prepareSession);
    if (this.#needsPrimary && rows[0]!.isReadOnly) throw new ReadOnlyServerError();
  }

  /**
   * The next way after an error, as in libpq; null: none is better. One server with and without TLS
   * are two ways, and the second one is for what TLS makes fail.
   */
  #after(from: number, error: unknown): number | null {
    if (isWrongPassword(error) || isExhaustedPool(error)) return null;
    const { server } = this.#ways[from]!;
    const following = (from + 1) % this.#ways.length;
    if (isOfEncryption(error) && this.#ways[following]!.server === server) return following;
    if (error instanceof pg.DatabaseError && !isCannotConnectNow(error) && !isReadOnly(error)) return null;
    const steps = this.#ways.map((_, step) => (from + step) % this.#ways.length);
    return steps.find((at) => this.#ways[at]!.server !== server) ?? null;
  }
}

/** `pg-pool` has no code for it. Its wait has ended, not that of a server. */
const isExhaustedPool = (error: unknown): boolean =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect';

/** No TLS, a handshake that fails, or a server that admits the role only by the other way. */
function isOfEncryption(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === '28000';
  const isOfSocket = /^E(?!PROTO|RR_)[A-Z]+$/.test(errorCode(error));
  return error instanceof Error && !isOfSocket && !/timeout/i.test(error.message);
}

/** A server among several that only reads; Postgres has the same code for its statements. */
class ReadOnlyServerError extends Error {
  override readonly name = 'ReadOnlyServerError';
  readonly code = '25006';
  constructor() {
    super('the server is a standby or read-only');
  }
}

/** Opens one connection of its own. `query_timeout`: for each answer, in milliseconds. */
export function openClient(
  route: Route,
  own: { application_name: string; query_timeout?: number },
): Promise<pg.Client> {
  return route.connect(async () => {
    const client = new pg.Client({ ...own, ...route.here });
    // The next query rejects.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await route.prepare(client);
      return client;
    } catch (error) {
      // Whether it ends well says nothing more.
      await client.end().catch(() => undefined);
      throw error;
    }
  });
}
