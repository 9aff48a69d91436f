import { randomInt } from 'node:crypto';
import pg from 'pg';
import type { Logger } from 'pino';
import { asApp } from './db.js';

/**
 * What Postgres tells its listeners, each with the id it concerns. A notification is a hint, never the truth: whoever
 * waits for one also looks for itself every second or so.
 *  - ratchet_events: job id; the job has new events
 *  - ratchet_control: job id; what runners may do has changed, or a reward it waits for has come
 *  - ratchet_commands: command id; the command has its outcome
 */
const channels = ['ratchet_events', 'ratchet_control', 'ratchet_commands'] as const;
type Channel = (typeof channels)[number];

export interface Notifications {
  /** A number by which others can tell whether this process lives: it holds an advisory lock on it (`presenceLock`). */
  readonly presence: number;
  /** Calls `wake` whenever something is said about `id` on `channel` (and after a lost connection); returns the way to stop. */
  on(channel: Channel, id: string, wake: () => void): () => void;
  close(): Promise<void>;
}

/** The first of the two keys of the lock that a living process holds; the second is its presence. */
export const presenceLock = 7_284_251;

const retryMs = 500;

/** One listening connection for the whole process; it reconnects by itself. */
export function listen(url: string, log: Logger): Notifications {
  const wakers = new Map<string, Set<() => void>>();
  const presence = randomInt(1, 2 ** 31);
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const reconnect = () => {
    if (closed || timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      void open();
    }, retryMs);
  };

  async function open(): Promise<void> {
    if (closed) return;
    const next = new pg.Client({ ...asApp(url), application_name: 'ratchet-listen' });
    client = next;
    let lost = false;
    const lose = (error?: Error) => {
      if (lost) return;
      lost = true;
      if (error && !closed) log.warn({ err: error }, 'the listening database connection broke');
      next.end().catch((e: Error) => log.debug({ err: e }, 'closing a broken connection'));
      reconnect();
    };
    next.on('error', lose);
    next.on('end', () => lose());
    next.on('notification', ({ channel, payload }) => {
      for (const wake of wakers.get(`${channel}:${payload ?? ''}`) ?? []) wake();
    });
    try {
      await next.connect();
      const lock = `select pg_advisory_lock_shared(${presenceLock}, ${presence})`;
      await next.query([...channels.map((channel) => `listen ${channel}`), lock].join('; '));
      // Whatever was said while nobody listened.
      for (const set of wakers.values()) for (const wake of set) wake();
    } catch (error) {
      lose(error as Error);
    }
  }
  void open();

  return {
    presence,
    on(channel, id, wake) {
      const key = `${channel}:${id}`;
      const set = wakers.get(key) ?? new Set();
      wakers.set(key, set.add(wake));
      return () => {
        set.delete(wake);
        if (set.size === 0 && wakers.get(key) === set) wakers.delete(key);
      };
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch((e: Error) => log.debug({ err: e }, 'closing the listening connection'));
    },
  };
}
