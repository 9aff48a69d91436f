import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { holdSlots, slotSeconds, type HeldSlots } from '../../storage/access/call-slots.js';
import type { KeyRow } from '../../storage/access/keys.js';
import type { Db } from '../../storage/db/db.js';

/** The slots that this process holds of a key or an organization. */
interface Holding {
  orgId: string;
  subject: string;
  limit: number;
  slots: number;
  used: number;
  /** What no process held at the last look. */
  free: number;
  /** Of `performance.now()`. */
  expiresAt: number;
  /** Until then calls are refused without a look. */
  fullUntil: number;
  waiting: number;
  holding: Promise<void> | null;
}

/** The state of a limit after a call has begun. */
export interface CallLimit {
  of: 'key' | 'organization';
  limit: number;
  left: number;
}

/** Calls in flight, within the limits that all processes share. */
export interface CallSlots {
  /** Takes a slot of each limit until `release`, or names the limit that has none. */
  take(key: KeyRow): Promise<{ limits: CallLimit[]; exceeded: CallLimit | null; release: () => void }>;
  /** Returns all slots. */
  close(): Promise<void>;
}

/** Unused slots go back after this long. */
const tickMs = 1_000;
/** Slots are renewed when this is left of them. */
const renewMs = (slotSeconds * 1_000 * 2) / 3;
const fullMs = 250;

/** A process holds slots for more calls than it has, so most calls cost no round trip. */
export function createCallSlots(db: Pick<Db, 'orgBatch'>, log: Pick<Logger, 'warn'>): CallSlots {
  const holder = randomUUID();
  const holdings = new Map<string, Holding>();
  let timer: NodeJS.Timeout | undefined;

  async function hold(held: Holding, waiting: number): Promise<void> {
    const { orgId, subject, limit, used } = held;
    const since = performance.now();
    // No call takes a slot that is being returned.
    held.slots = used;
    const rows = await db.orgBatch(orgId, holdSlots({ orgId, subject, limit, holder, used, waiting }));
    const { slots, free } = rows.at(-1)![0] as HeldSlots;
    Object.assign(held, { slots, free, expiresAt: since + slotSeconds * 1_000 });
  }
  const holdOnce = (held: Holding, waiting: number): Promise<void> =>
    (held.holding ??= hold(held, waiting).finally(() => (held.holding = null)));

  /** Renews the slots in use, and returns the others. */
  async function tick(): Promise<void> {
    const now = performance.now();
    for (const [subject, held] of holdings) {
      const isDue = held.slots > held.used || (held.used > 0 && held.expiresAt - now < renewMs);
      if (held.holding || held.waiting > 0) continue;
      if (isDue) await holdOnce(held, 0).catch((err: unknown) => log.warn({ err }, 'call slots are not renewed yet'));
      else if (held.used === 0) holdings.delete(subject);
    }
    if (holdings.size > 0) schedule();
  }
  function schedule(): void {
    timer = setTimeout(() => {
      timer = undefined;
      void tick();
    }, tickMs).unref();
  }

  function holdingOf(orgId: string, subject: string, limit: number): Holding {
    const known = holdings.get(subject) ?? {
      ...{ orgId, subject, slots: 0, used: 0, free: limit, expiresAt: 0, fullUntil: 0, waiting: 0, holding: null },
      limit,
    };
    known.limit = limit;
    holdings.set(subject, known);
    if (!timer) schedule();
    return known;
  }

  async function takeOne(held: Holding): Promise<boolean> {
    held.waiting += 1;
    try {
      for (let looks = 0; ; looks += 1) {
        const now = performance.now();
        if (held.used < Math.min(held.slots, held.limit) && now < held.expiresAt) {
          held.used += 1;
          return true;
        }
        if (now < held.fullUntil) return false;
        // A look in progress may have begun before this call.
        if (looks > 1) {
          held.fullUntil = now + fullMs;
          return false;
        }
        await holdOnce(held, held.waiting);
      }
    } finally {
      held.waiting -= 1;
    }
  }

  return {
    async take({ orgId, limits: given }) {
      const limits: CallLimit[] = [];
      const taken: Holding[] = [];
      const release = () => {
        for (const held of taken.splice(0)) {
          held.used -= 1;
          held.fullUntil = 0;
        }
      };
      try {
        for (const { subject, callsInFlight: limit } of given) {
          if (limit === null) continue;
          const held = holdingOf(orgId, subject, limit);
          const isTaken = await takeOne(held);
          if (isTaken) taken.push(held);
          const left = Math.max(0, held.slots - held.used) + held.free;
          const state: CallLimit = { of: subject === orgId ? 'organization' : 'key', limit, left: isTaken ? left : 0 };
          limits.push(state);
          if (!isTaken) {
            release();
            return { limits, exceeded: state, release };
          }
        }
      } catch (error) {
        release();
        throw error;
      }
      return { limits, exceeded: null, release };
    },

    async close() {
      clearTimeout(timer);
      const all = [...holdings.values()];
      holdings.clear();
      await Promise.allSettled(all.map((held) => hold({ ...held, used: 0 }, 0)));
    },
  };
}
