import type { Claim, CompletedRollouts } from '../../src/rollouts/store/exchange.js';

/** Nothing is prefetched where waiting for Postgres takes less than this share of a rollout. */
const idleShare = 0.02;
/** Claims may start for this long after the job's control was read. */
const controlFreshMs = 1_000;

/**
 * Claims that have not started. Where slots would idle during an exchange with Postgres, it holds
 * as many as end meanwhile. Nothing starts between news of the job's control and the exchange that
 * reads it.
 */
export class ClaimPrefetch {
  private claims: Claim[] = [];
  private started = new Set<string>();
  private released: string[] = [];
  private mayStartUntil = -Infinity;
  private suspensions = 0;
  private endedPerExchange = 0;
  private exchangeMs = 0;

  /** The number of claims that wait for a slot. */
  get size(): number {
    return this.claims.length;
  }

  /** Whether the next exchange must report released claims. */
  get hasReleased(): boolean {
    return this.released.length > 0;
  }

  /**
   * The number of claims to prefetch, at most `limit`: twice the rollouts that end during an
   * exchange.
   */
  target(limit: number, meanLatencyMs: number | null): number {
    if (meanLatencyMs === null || this.exchangeMs <= idleShare * meanLatencyMs) return 0;
    return Math.min(limit, 2 * this.endedPerExchange);
  }

  add(claims: Claim[]): void {
    this.claims.push(...claims);
  }

  /** The next claim to start; null: none, or the job's control is not known to be `run`. */
  next(): Claim | null {
    if (performance.now() >= this.mayStartUntil) return null;
    const claim = this.claims.shift();
    if (!claim) return null;
    this.started.add(claim.rolloutId);
    return claim;
  }

  /** The outcome of a rollout reports that it started. */
  ended(rolloutId: string): void {
    this.started.delete(rolloutId);
  }

  release(): void {
    this.released.push(...this.claims.splice(0).map((claim) => claim.rolloutId));
    this.endedPerExchange = 0;
  }

  /** Starts nothing until the job's control is read again. */
  suspend(): void {
    this.suspensions += 1;
    this.mayStartUntil = -Infinity;
  }

  /**
   * Takes the report of an exchange that waits since `queuedAt` and begins now. Call `confirm` with
   * the control that it read and its number of outcomes.
   */
  report(queuedAt: number): {
    report: Omit<CompletedRollouts, 'outcomes'>;
    confirm: (control: string, ended: number) => void;
  } {
    const report = { started: [...this.started], returned: this.released };
    this.started.clear();
    this.released = [];
    const { suspensions } = this;
    const startedAt = performance.now();
    return {
      report,
      confirm: (control, ended) => {
        this.exchangeMs = performance.now() - queuedAt;
        this.endedPerExchange = Math.max(ended, Math.floor(this.endedPerExchange / 2));
        if (control === 'run' && suspensions === this.suspensions) this.mayStartUntil = startedAt + controlFreshMs;
      },
    };
  }
}
