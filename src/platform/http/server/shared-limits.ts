import type { Logger } from 'pino';
import type { KeyRow } from '../../../access/store/keys.js';
import type { Limits, Portion, PortionOf } from '../../../access/store/limits.js';

/** A limit that all processes share, each of which takes portions of it. */
export interface SharedLimit {
  name: keyof Limits;
  /** Whether a use lasts until its release; else it is used up with the portion's time. */
  isHeld: boolean;
  take(portion: PortionOf): Promise<Portion>;
}

/** The state of a limit after a use. */
export interface LimitState {
  of: 'key' | 'organization';
  limit: number;
  left: number;
  /** Of the portion. */
  secondsLeft: number;
}

/** Unused portions go back after this long. */
const tickMs = 1_000;
const emptyMs = 250;

/** The uses of a limit by the requests of this process, of all keys and organizations. */
export class SharedUses {
  private readonly shared: SharedLimit;
  private readonly log: Pick<Logger, 'warn'>;
  private readonly holdings = new Map<string, Holding>();
  private timer: NodeJS.Timeout | undefined;

  constructor(shared: SharedLimit, log: Pick<Logger, 'warn'>) {
    this.shared = shared;
    this.log = log;
  }

  /** Takes one of each limit of a key, or of none and names the limit that has none left. */
  async take({
    orgId,
    limits,
  }: KeyRow): Promise<{ states: LimitState[]; exceeded: LimitState | null; release: () => void }> {
    const states: LimitState[] = [];
    const taken: Holding[] = [];
    const release = () => {
      for (const holding of taken.splice(0)) holding.release();
    };
    try {
      for (const { subject, [this.shared.name]: limit } of limits) {
        if (limit === null) continue;
        const holding = this.holdingOf(orgId, subject, limit);
        const isTaken = await holding.take();
        if (isTaken) taken.push(holding);
        const state = holding.state(isTaken);
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
  }

  /** Returns the portions that this process holds. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    const all = this.shared.isHeld ? [...this.holdings.values()] : [];
    this.holdings.clear();
    await Promise.allSettled(all.map((holding) => holding.giveBack()));
  }

  private holdingOf(orgId: string, subject: string, limit: number): Holding {
    const holding = this.holdings.get(subject) ?? new Holding(this.shared, { orgId, subject, limit });
    holding.setLimit(limit);
    this.holdings.set(subject, holding);
    if (!this.timer) this.schedule();
    return holding;
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.tick();
    }, tickMs).unref();
  }

  /** Renews what is in use, returns the rest, and forgets portions whose time is over. */
  private async tick(): Promise<void> {
    const now = performance.now();
    for (const [subject, holding] of this.holdings) {
      if (holding.isAskedFor) continue;
      if (holding.isUnused(now)) this.holdings.delete(subject);
      else if (holding.isDue(now))
        await holding
          .look()
          .catch((err: unknown) => this.log.warn({ err, name: this.shared.name }, 'limit not renewed yet'));
    }
    if (this.holdings.size > 0) this.schedule();
  }
}

/** The portion of a key's or organization's limit that this process holds. */
class Holding {
  private readonly shared: SharedLimit;
  private readonly of: { orgId: string; subject: string };
  private limit: number;
  private granted = 0;
  private used = 0;
  /** What no process held at the last look. */
  private left: number;
  /** Of `performance.now()`. */
  private endsAt = 0;
  /** When a portion in use is renewed. */
  private renewAt = 0;
  /** Until then uses are refused without a look. */
  private emptyUntil = 0;
  /** Uses that wait for a look. */
  private waiting = 0;
  private looking: Promise<void> | null = null;

  constructor(shared: SharedLimit, { orgId, subject, limit }: { orgId: string; subject: string; limit: number }) {
    this.shared = shared;
    this.of = { orgId, subject };
    this.limit = limit;
    this.left = limit;
  }

  setLimit(limit: number): void {
    if (limit === this.limit) return;
    this.limit = limit;
    this.emptyUntil = 0;
  }

  /** Takes more than it needs, so most uses cost no round trip; false: none is left. */
  async take(): Promise<boolean> {
    this.waiting += 1;
    try {
      for (let looks = 0; ; looks += 1) {
        const now = performance.now();
        if (this.used < Math.min(this.granted, this.limit) && now < this.endsAt) {
          this.used += 1;
          return true;
        }
        if (now < this.emptyUntil) return false;
        // A look in progress may have begun before this use.
        if (looks > 1 && this.left === 0) {
          this.emptyUntil = now + emptyMs;
          return false;
        }
        await this.look();
      }
    } finally {
      this.waiting -= 1;
    }
  }

  release(): void {
    this.used -= 1;
    this.emptyUntil = 0;
  }

  /** Returns all of it. */
  async giveBack(): Promise<void> {
    await this.shared.take({ ...this.of, limit: this.limit, used: 0, waiting: 0 });
  }

  /** Asks for what the waiting uses need, or returns what is not used; one look at a time. */
  look(): Promise<void> {
    return (this.looking ??= this.lookNow().finally(() => (this.looking = null)));
  }

  private async lookNow(): Promise<void> {
    const since = performance.now();
    // Lower it before the look: no use may take what this look returns.
    this.granted = this.used;
    const { limit, used, waiting } = this;
    const { granted, left, secondsLeft } = await this.shared.take({ ...this.of, limit, used, waiting });
    this.granted = granted;
    this.left = left;
    this.endsAt = since + secondsLeft * 1_000;
    this.renewAt = since + (secondsLeft * 1_000) / 3;
    if (this.shared.isHeld) return;
    this.used = 0;
    if (left === 0) this.emptyUntil = this.endsAt;
  }

  get isAskedFor(): boolean {
    return this.looking !== null || this.waiting > 0;
  }

  isUnused(now: number): boolean {
    return this.shared.isHeld ? this.granted === 0 : now >= this.endsAt;
  }

  isDue(now: number): boolean {
    return this.shared.isHeld && (this.granted > this.used || now >= this.renewAt);
  }

  /** After a use, or a refused one. */
  state(isTaken: boolean): LimitState {
    const { orgId, subject } = this.of;
    return {
      of: subject === orgId ? 'organization' : 'key',
      limit: this.limit,
      left: isTaken ? Math.max(0, this.granted - this.used) + this.left : 0,
      secondsLeft: Math.max(1, Math.ceil((this.endsAt - performance.now()) / 1_000)),
    };
  }
}
