import type { ConcurrencyNow, LimitChange } from '../../src/jobs/store/concurrency.js';

/** The limit is lowered at most once in this time. */
const quietMs = 1_000;

/**
 * The number of rollouts that may be in flight. Additive increase, multiplicative decrease: it
 * halves when the container pushes back (429, 503) or times out, and grows by one for each `limit`
 * successes.
 */
export class Concurrency {
  private allowed: number;
  private reason: string | null;
  private loweredAt = -Infinity;
  private lowered = false;
  private reportedLimit: number;
  private sending = 0;
  private readonly waiters: (() => void)[] = [];
  private readonly max: number;

  /** `from`: the limit that the job's last runner reached. */
  constructor(max: number, from: ConcurrencyNow | null = null) {
    this.max = max;
    this.allowed = Math.min(max, from?.limit ?? max);
    this.reason = from?.reason ?? null;
    this.reportedLimit = this.limit;
  }

  get limit(): number {
    return Math.max(1, Math.floor(this.allowed));
  }

  lower(reason: string): void {
    if (performance.now() - this.loweredAt < quietMs) return;
    this.loweredAt = performance.now();
    this.lowered = true;
    this.allowed = Math.max(1, this.allowed / 2);
    this.reason = reason;
  }

  raise(): void {
    this.allowed = Math.min(this.max, this.allowed + 1 / this.allowed);
    if (this.limit === this.max) this.reason = null;
    this.admitNext();
  }

  /** The change since the last call; null: none. */
  takeChange(): LimitChange | null {
    const { limit, lowered, reason, max } = this;
    if (!lowered && limit === this.reportedLimit) return null;
    this.lowered = false;
    this.reportedLimit = limit;
    return { limit, reason: limit === max ? null : reason, lowered, max };
  }

  /**
   * Resolves when a request may be sent; call the result when it has ended. Rejects with the
   * signal's reason.
   */
  async admit(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    while (this.sending >= this.limit) await this.waitForTurn(signal);
    this.sending += 1;
    return () => {
      this.sending -= 1;
      this.admitNext();
    };
  }

  private admitNext(): void {
    if (this.sending < this.limit) this.waiters.shift()?.();
  }

  private async waitForTurn(signal: AbortSignal): Promise<void> {
    let admit: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => (admit = resolve));
    this.waiters.push(admit);
    signal.addEventListener('abort', admit, { once: true });
    await turn;
    signal.removeEventListener('abort', admit);
    const index = this.waiters.indexOf(admit);
    if (index >= 0) this.waiters.splice(index, 1);
    signal.throwIfAborted();
  }
}
