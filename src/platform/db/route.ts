import pg from 'pg';
import { isCannotConnectNow, isReadOnly, isWrongPassword } from './postgres-errors.js';
import { withoutNewerLimits } from './session-settings.js';
import { encryptions, type Encryption } from './tls.js';
import { readDatabaseUrl, type Server } from './url.js';

/** One way to a server: its address, and with or without TLS. */
interface Way {
  server: Server;
  ssl: Encryption;
}

/** For a connection to be there, before the next way is tried. */
export const connectMs = 10_000;

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
    const { user, password, database, applicationName, tls } = read;
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
    let answer: Error | undefined;
    for (let left = this.#ways.length; ; left -= 1) {
      const from = this.#at;
      try {
        return await connect();
      } catch (error) {
        if (error instanceof pg.DatabaseError) answer ??= error;
        if (left <= 1 || !this.#leave(from, error)) throw answer ?? error;
      }
    }
  }

  /** Prepares a new connection; rejects with one of several servers that does not write. */
  async prepare(client: pg.ClientBase): Promise<void> {
    const { rows } = await client.query<{ isReadOnly: boolean }>(withoutNewerLimits);
    if (this.#needsPrimary && rows[0]!.isReadOnly) throw new ReadOnlyServerError();
  }

  /** Whether the next way may be better; then new connections begin there. */
  #leave(from: number, error: unknown): boolean {
    const next = (from + 1) % this.#ways.length;
    const isSameServer = this.#ways[from]!.server === this.#ways[next]!.server;
    const isAnswer = error instanceof pg.DatabaseError;
    const leaves = isSameServer ? !isWrongPassword(error) : !isAnswer || isCannotConnectNow(error);
    if ((leaves || isReadOnly(error)) && this.#at === from) this.#at = next;
    return leaves || isReadOnly(error);
  }
}

/** A server among several that only reads; Postgres has the same code for its statements. */
class ReadOnlyServerError extends Error {
  override readonly name = 'ReadOnlyServerError';
  readonly code = '25006';
  constructor() {
    super('the server is a standby or read-only');
  }
}

/** Opens one connection of its own. */
export function openClient(route: Route, applicationName: string): Promise<pg.Client> {
  return route.connect(async () => {
    const client = new pg.Client({ application_name: applicationName, ...route.here });
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
