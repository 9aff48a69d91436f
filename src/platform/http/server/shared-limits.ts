import type { Logger } from 'pino';
import type { Portion, PortionOf } from '../../../access/store/limits.js';

/** Whose uses are limited; null: without limit. */
export interface Limited {
  subject: string;
  /** In refusals and fields of answers; by default what the id in `subject` names. */
  of?: LimitedKind;
  requestsPerMinute: number | null;
  callsInFlight: number | null;
}
export type LimitedKind = 'key' | 'organization' | 'deployment' | 'deployment-key' | 'deployment-tag';

/** A limit that all processes share, each of which takes portions of it. */
export interface SharedLimit {
  name: 'requestsPerMinute' | 'callsInFlight';
  /** Whether a use lasts until its release; else it is used up with the portion's time. */
  isHeld: boolean;
  take(portion: PortionOf): Promise<Portion>;
}

/** The state of a limit after a use. */
export interface LimitState {
  of: LimitedKind;
  limit: number;
  left: number;
  /** Of the portion. */
  secondsLeft: number;
}

/** Unused portions go back after this long. */
const tickMs = 1_000;
const emptyMs = 250;
/** Portions that a process knows, beside those in use: beyond it the oldest is forgotten. */
const mostHoldings = 20_000;

/** What came of a request's uses of a limit. */
export interface Taken {
  states: LimitState[];
  /** The limit that has none left; null: one of each is taken. */
  exceeded: LimitState | null;
  release: () => void;
}

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

  /** Takes one of each limit, or of none and names the limit that has none left. */
  async take({ orgId, limits }: { orgId: string; limits: readonly Limited[] }): Promise<Taken> {
    const holdings = limits.flatMap((limited) => {
      const limit = limited[this.shared.name];
      return limit === null ? [] : [this.holdingOf(orgId, limited, limit)];
    });
    const releases: (() => void)[] = [];
    const release = () => {
      for (const each of releases.splice(0)) each();
    };
    // What is known to be used up costs the others no look.
    const empty = holdings.find((holding) => holding.isKnownEmpty(performance.now()));
    if (empty) return { states: [empty.state(false)], exceeded: empty.state(false), release };
    const results = await Promise.allSettled(holdings.map((holding) => holding.take()));
    for (const result of results) if (result.status === 'fulfilled' && result.value) releases.push(result.value);
    const failed = results.find((result) => result.status === 'rejected');
    const missing = results.findIndex((result) => result.status === 'fulfilled' && result.value === null);
    if (failed || missing >= 0) release();
    if (failed) throw failed.reason;
    const states = holdings.map((holding, at) => holding.state(at !== missing));
    return { states, exceeded: states[missing] ?? null, release };
  }

  /** Returns the portions that this process holds. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    const all = this.shared.isHeld ? [...this.holdings.values()] : [];
    this.holdings.clear();
    await Promise.allSettled(all.map((holding) => holding.giveBack()));
  }

  private holdingOf(orgId: string, { subject, of }: Limited, limit: number): Holding {
    const name = `${orgId} ${subject}`;
    const kind = of ?? (subject === orgId ? 'organization' : 'key');
    const known = this.holdings.get(name);
    if (!known && this.holdings.size >= mostHoldings) this.forgetOldest();
    const holding = known ?? new Holding(this.shared, { orgId, subject, kind, limit });
    holding.setLimit(limit);
    this.holdings.delete(name);
    this.holdings.set(name, holding);
    if (!this.timer) this.schedule();
    return holding;
  }

  /** What it has not used expires in Postgres: until then less than the limit is admitted. */
  private forgetOldest(): void {
    for (const [name, holding] of this.holdings) if (!holding.isInUse) return void this.holdings.delete(name);
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
    for (const [name, holding] of this.holdings) {
      if (holding.isAskedFor) continue;
      if (holding.isUnused(now)) this.holdings.delete(name);
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
  private readonly kind: LimitedKind;
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
  /** Counts portions that are used up with their time. */
  private portion = 0;

  constructor(
    shared: SharedLimit,
    { orgId, subject, kind, limit }: { orgId: string; subject: string; kind: LimitedKind; limit: number },
  ) {
    this.shared = shared;
    this.kind = kind;
    this.of = { orgId, subject };
    this.limit = limit;
    this.left = limit;
  }

  setLimit(limit: number): void {
    if (limit === this.limit) return;
    this.limit = limit;
    this.emptyUntil = 0;
  }

  /** Whether a use would be refused without a look. */
  isKnownEmpty(now: number): boolean {
    return now < this.emptyUntil && !this.hasUnused(now);
  }

  /** Whether a use waits, or lasts. */
  get isInUse(): boolean {
    return this.isAskedFor || (this.shared.isHeld && this.used > 0);
  }

  private hasUnused(now: number): boolean {
    return this.used < Math.min(this.granted, this.limit) && now < this.endsAt;
  }

  /**
   * Takes more than it needs, so most uses cost no round trip. Returns its release; null: none is
   * left.
   */
  async take(): Promise<(() => void) | null> {
    this.waiting += 1;
    try {
      for (let looks = 0; ; looks += 1) {
        const now = performance.now();
        if (this.hasUnused(now)) {
          this.used += 1;
          const { portion } = this;
          return () => this.release(portion);
        }
        if (now < this.emptyUntil) return null;
        // A look in progress may have begun before this use.
        if (looks > 1 && this.left === 0) {
          this.emptyUntil = now + emptyMs;
          return null;
        }
        await this.look();
      }
    } finally {
      this.waiting -= 1;
    }
  }

  /** A use of an earlier portion is no use of this one. */
  private release(portion: number): void {
    if (portion !== this.portion) return;
    this.used -= 1;
    // What is left in the portion of a minute is taken first.
    if (this.shared.isHeld) this.emptyUntil = 0;
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
    this.portion += 1;
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
    return {
      of: this.kind,
      limit: this.limit,
      left: isTaken ? Math.max(0, this.granted - this.used) + this.left : 0,
      secondsLeft: Math.max(1, Math.ceil((this.endsAt - performance.now()) / 1_000)),
    };
  }
}
