import type { Claim, CompletedRollouts } from '../../src/storage/rollouts/exchange.js';

/** Where waiting for Postgres costs less than this share of a rollout, none is claimed ahead. */
const idleShare = 0.02;
/** What is claimed begins only while the last word on the job's control is not older. */
const controlFreshMs = 1_000;

/**
 * What a runner has claimed and not begun. Where rollouts are so short that their slots would stand idle while Postgres
 * answers, some are claimed ahead, as many as end meanwhile; they begin as slots come free, or are given back. Nothing
 * begins between news of the job's control and the exchange that reads it.
 */
export class ClaimPrefetch {
  private claims: Claim[] = [];
  private begun = new Set<string>();
  private returned: string[] = [];
  private mayBeginUntil = -Infinity;
  private news = 0;
  private endedPerExchange = 0;
  private exchangeMs = 0;

  /** How many claims wait for a slot. */
  get size(): number {
    return this.claims.length;
  }

  /** Whether claims are given back that the next exchange has to tell of. */
  get owes(): boolean {
    return this.returned.length > 0;
  }

  /** How many to hold beyond those with a slot, at most `limit`: twice what ends while Postgres answers. */
  target(limit: number, meanLatencyMs: number | null): number {
    if (meanLatencyMs === null || this.exchangeMs <= idleShare * meanLatencyMs) return 0;
    return Math.min(limit, 2 * this.endedPerExchange);
  }

  add(claims: Claim[]): void {
    this.claims.push(...claims);
  }

  /** The next to begin; null: there is none, or the control is not known to say `run`. */
  next(): Claim | null {
    if (performance.now() >= this.mayBeginUntil) return null;
    const claim = this.claims.shift();
    if (!claim) return null;
    this.begun.add(claim.rolloutId);
    return claim;
  }

  /** A rollout that has ended is told of by its outcome. */
  ended(rolloutId: string): void {
    this.begun.delete(rolloutId);
  }

  giveBack(): void {
    this.returned.push(...this.claims.splice(0).map((claim) => claim.rolloutId));
    this.endedPerExchange = 0;
  }

  /** The job's control may have changed: nothing begins before it is read. */
  hold(): void {
    this.news += 1;
    this.mayBeginUntil = -Infinity;
  }

  /** What an exchange has to tell, and what to call when it has read the control, `ended` being how many outcomes it took. */
  tell(): { report: Omit<CompletedRollouts, 'outcomes'>; told: (control: string, ended: number) => void } {
    const report = { begun: [...this.begun], returned: this.returned };
    this.begun.clear();
    this.returned = [];
    const { news } = this;
    const askedAt = performance.now();
    return {
      report,
      told: (control, ended) => {
        this.exchangeMs = performance.now() - askedAt;
        this.endedPerExchange = Math.max(ended, Math.floor(this.endedPerExchange / 2));
        if (control === 'run' && news === this.news) this.mayBeginUntil = askedAt + controlFreshMs;
      },
    };
  }
}
