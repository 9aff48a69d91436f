import { randomInt } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import { routeOfService } from './db.js';
import { answerMs, openClient } from './route.js';

/**
 * Postgres notifications with the id they concern: ratchet_events (job), ratchet_control (job) and
 * ratchet_commands (command). They are hints: a listener must also poll, about once a second.
 */
const channels = ['ratchet_events', 'ratchet_control', 'ratchet_commands'] as const;
type Channel = (typeof channels)[number];

export interface Notifications {
  /** Advisory lock number (see `presenceLock`) that shows that this process lives. */
  readonly presence: number;
  /** Calls `wake` on notifications about `id` and after a lost connection. Returns unsubscribe. */
  on(channel: Channel, id: string, wake: () => void): () => void;
  close(): Promise<void>;
}

/** First key of a living process's advisory lock; the second is its presence. */
export const presenceLock = 7_284_251;

const retryMs = 500;

/** One listening connection per process; it reconnects by itself. */
export function listen(url: string, log: Logger): Notifications {
  const route = routeOfService(url);
  const wakers = new Map<string, Set<() => void>>();
  const presence = randomInt(1, 2 ** 31);
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const retry = (error?: Error) => {
    if (closed || timer) return;
    if (error) log.warn({ err: error }, 'the listening database connection broke');
    timer = setTimeout(() => {
      timer = undefined;
      opening = open();
    }, retryMs);
  };

  async function open(): Promise<void> {
    try {
      const next = await openClient(route, { application_name: 'ratchet-listen', query_timeout: answerMs });
      client = next;
      let lost = false;
      const lose = (error?: Error) => {
        if (lost) return;
        lost = true;
        next.end().catch((e: Error) => log.debug({ err: e }, 'closing a broken connection'));
        retry(error);
      };
      next.on('error', lose);
      next.on('end', () => lose());
      next.on('notification', ({ channel, payload }) => {
        for (const wake of wakers.get(`${channel}:${payload ?? ''}`) ?? []) wake();
      });
      const lock = `select pg_advisory_lock_shared(${presenceLock}, ${presence})`;
      await next.query([...channels.map((channel) => `listen ${channel}`), lock].join('; ')).catch(lose);
      // Notifications during the outage were lost.
      for (const set of wakers.values()) for (const wake of set) wake();
    } catch (error) {
      retry(error as Error);
    }
  }
  let opening = open();

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
      await opening;
      await client?.end().catch((e: Error) => log.debug({ err: e }, 'closing the listening connection'));
    },
  };
}
