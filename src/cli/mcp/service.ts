import { setTimeout as delay } from 'node:timers/promises';
import type { Ratchet } from '../../client/index.js';
import { isUnreachable } from '../service/client.js';
import { FailedJob } from '../service/errors.js';
import { note } from '../service/output.js';

/** What the tools work on. */
export interface Connection {
  client: Ratchet;
  /** When the service's addresses end; null: not with this process. */
  ends: string | null;
}

/** Runs a function on a service, and ends the service if it has started it. */
type Connect = (use: (connection: Connection) => Promise<void>) => Promise<void>;

interface Session {
  connected: Promise<Connection>;
  end(): void;
}

/** Clients end a call after a minute, and the first start builds Temporal. */
const defaultPatienceMs = 40_000;

/** The service of the tools, found or started by the first call that needs it. */
export class ToolService {
  readonly #connect: Connect;
  readonly #patienceMs: number;
  #session: Session | null = null;
  /** Settles when no service of this process is left. */
  #ended: Promise<void> = Promise.resolve();

  constructor(connect: Connect, patienceMs = defaultPatienceMs) {
    this.#connect = connect;
    this.#patienceMs = patienceMs;
  }

  /** Runs a tool on the service; fails if the start failed, or takes longer than a call may. */
  async use<T>(tool: (connection: Connection) => Promise<T>): Promise<T> {
    const session = (this.#session ??= this.#begin());
    const connection = await this.#connection(session);
    try {
      return await tool(connection);
    } catch (error) {
      // The next call looks for the service again.
      if (isUnreachable(error) && connection.ends === null) this.#forget(session);
      throw error;
    }
  }

  /** Ends a service that was started here. */
  async close(): Promise<void> {
    this.#session?.end();
    await this.#ended;
  }

  async #connection(session: Session): Promise<Connection> {
    const waiting = new AbortController();
    const late = delay(this.#patienceMs, null, { signal: waiting.signal });
    try {
      const connection = await Promise.race([session.connected, late]);
      if (connection !== null) return connection;
    } catch (error) {
      // Reported by this call; the next one tries again.
      this.#forget(session);
      throw error;
    } finally {
      late.catch(() => undefined);
      waiting.abort();
    }
    throw new FailedJob('The service is starting, which takes minutes the first time. Nothing was done: call again.');
  }

  #begin(): Session {
    let end!: () => void;
    const over = new Promise<void>((resolve) => (end = resolve));
    const connected = new Promise<Connection>((resolve, reject) => {
      const run = () =>
        this.#connect((connection) => {
          resolve(connection);
          return over;
        });
      this.#ended = this.#ended.then(run).catch((error: Error) => {
        const failure = new FailedJob(`There is no service: ${error.message}`, { cause: error });
        note(failure.message);
        reject(failure);
        // A service that stops by itself; one that did not start is kept for the report.
        connected.then(
          () => this.#forget(session),
          () => undefined,
        );
      });
    });
    const session: Session = { connected, end };
    return session;
  }

  #forget(session: Session): void {
    session.end();
    if (this.#session === session) this.#session = null;
  }
}
