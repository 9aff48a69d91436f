import type { Logger } from 'pino';
import type { KeyRow } from '../../storage/access/keys.js';
import type { Limits, Portion, PortionOf } from '../../storage/access/limits.js';

/** A limit that all processes share, each of which takes portions of it. */
export interface SharedLimit {
  name: keyof Limits;
  /** Whether a use lasts until its release; else it is used up with the portion's time. */
  isHeld: boolean;
  take(portion: PortionOf): Promise<Portion>;
}

/** The portion of this process. */
interface Holding {
  orgId: string;
  subject: string;
  limit: number;
  granted: number;
  used: number;
  /** What no process held at the last look. */
  left: number;
  /** Of `performance.now()`. */
  endsAt: number;
  /** When a portion in use is renewed. */
  renewAt: number;
  /** Until then uses are refused without a look. */
  emptyUntil: number;
  waiting: number;
  taking: Promise<void> | null;
}

/** The state of a limit after a use. */
export interface LimitState {
  of: 'key' | 'organization';
  limit: number;
  left: number;
  /** Of the portion. */
  secondsLeft: number;
}

export interface SharedUses {
  /** Takes one of each limit of a key, or of none and names the limit that has none left. */
  take(key: KeyRow): Promise<{ states: LimitState[]; exceeded: LimitState | null; release: () => void }>;
  /** Returns the portions that this process holds. */
  close(): Promise<void>;
}

/** Unused portions go back after this long. */
const tickMs = 1_000;
const emptyMs = 250;

/** A process takes more than it needs, so most uses cost no round trip. */
export function createSharedUses({ name, isHeld, take }: SharedLimit, log: Pick<Logger, 'warn'>): SharedUses {
  const holdings = new Map<string, Holding>();
  let timer: NodeJS.Timeout | undefined;

  async function look(held: Holding, waiting: number): Promise<void> {
    const since = performance.now();
    // Lower it before the look: no use may take what this look returns.
    held.granted = held.used;
    const { granted, left, secondsLeft } = await take({ ...held, waiting });
    const endsAt = since + secondsLeft * 1_000;
    Object.assign(held, { granted, left, endsAt, renewAt: since + (secondsLeft * 1_000) / 3 });
    if (isHeld) return;
    held.used = 0;
    if (left === 0) held.emptyUntil = endsAt;
  }
  const lookOnce = (held: Holding, waiting: number): Promise<void> =>
    (held.taking ??= look(held, waiting).finally(() => (held.taking = null)));

  /** Renews what is in use, returns the rest, and forgets portions whose time is over. */
  async function tick(): Promise<void> {
    const now = performance.now();
    for (const [subject, held] of holdings) {
      if (held.taking || held.waiting > 0) continue;
      const isUnused = isHeld ? held.granted === 0 : now >= held.endsAt;
      const isDue = isHeld && (held.granted > held.used || now >= held.renewAt);
      if (isUnused) holdings.delete(subject);
      else if (isDue) await lookOnce(held, 0).catch((err: unknown) => log.warn({ err, name }, 'limit not renewed yet'));
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
    const none = { granted: 0, used: 0, left: limit, endsAt: 0, renewAt: 0, emptyUntil: 0 };
    const held = holdings.get(subject) ?? { orgId, subject, limit, ...none, waiting: 0, taking: null };
    if (held.limit !== limit) Object.assign(held, { limit, emptyUntil: 0 });
    holdings.set(subject, held);
    if (!timer) schedule();
    return held;
  }

  async function takeOne(held: Holding): Promise<boolean> {
    held.waiting += 1;
    try {
      for (let looks = 0; ; looks += 1) {
        const now = performance.now();
        if (held.used < Math.min(held.granted, held.limit) && now < held.endsAt) {
          held.used += 1;
          return true;
        }
        if (now < held.emptyUntil) return false;
        // A look in progress may have begun before this use.
        if (looks > 1 && held.left === 0) {
          held.emptyUntil = now + emptyMs;
          return false;
        }
        await lookOnce(held, held.waiting);
      }
    } finally {
      held.waiting -= 1;
    }
  }

  return {
    async take({ orgId, limits }) {
      const states: LimitState[] = [];
      const taken: Holding[] = [];
      const release = () => {
        for (const held of taken.splice(0)) {
          held.used -= 1;
          held.emptyUntil = 0;
        }
      };
      try {
        for (const { subject, [name]: limit } of limits) {
          if (limit === null) continue;
          const held = holdingOf(orgId, subject, limit);
          const isTaken = await takeOne(held);
          if (isTaken) taken.push(held);
          const state: LimitState = {
            of: subject === orgId ? 'organization' : 'key',
            limit,
            left: isTaken ? Math.max(0, held.granted - held.used) + held.left : 0,
            secondsLeft: Math.max(1, Math.ceil((held.endsAt - performance.now()) / 1_000)),
          };
          states.push(state);
          if (isTaken) continue;
          release();
          return { states, exceeded: state, release };
        }
      } catch (error) {
        release();
        throw error;
      }
      return { states, exceeded: null, release };
    },

    async close() {
      clearTimeout(timer);
      const all = isHeld ? [...holdings.values()] : [];
      holdings.clear();
      await Promise.allSettled(all.map((held) => take({ ...held, used: 0, waiting: 0 })));
    },
  };
}
