import type { ConcurrencyNow } from '../../src/storage/jobs/concurrency.js';

const quietMs = 1_000;

/**
 * How many rollouts may be in flight: halves when the container pushes back (429, 503) or does not answer in time, at most once a
 * second, and grows by one for each `limit` successes, up to the job's `max_concurrent`. Additive increase, multiplicative decrease.
 * Tries of rollouts that had begun before take their turn under it, too.
 */
export class Concurrency {
  private allowed: number;
  private because: string | null;
  private loweredAt = -Infinity;
  private lowered = false;
  private toldLimit: number;
  private sending = 0;
  private readonly turns: (() => void)[] = [];
  private readonly max: number;

  /** `from`: where an earlier runner of the job left off. */
  constructor(max: number, from: ConcurrencyNow | null = null) {
    this.max = max;
    this.allowed = Math.min(max, from?.limit ?? max);
    this.because = from?.because ?? null;
    this.toldLimit = this.limit;
  }

  get limit(): number {
    return Math.max(1, Math.floor(this.allowed));
  }

  lower(because: string): void {
    if (performance.now() - this.loweredAt < quietMs) return;
    this.loweredAt = performance.now();
    this.lowered = true;
    this.allowed = Math.max(1, this.allowed / 2);
    this.because = because;
  }

  raise(): void {
    this.allowed = Math.min(this.max, this.allowed + 1 / this.allowed);
    if (this.limit === this.max) this.because = null;
    this.nextTurn();
  }

  /** What has changed since this was last asked; null: nothing. */
  news(): (ConcurrencyNow & { lowered: boolean; max: number }) | null {
    const { limit, lowered, because, max } = this;
    if (!lowered && limit === this.toldLimit) return null;
    this.lowered = false;
    this.toldLimit = limit;
    return { limit, because: limit === max ? null : because, lowered, max };
  }

  /** Resolves when one more try may be sent, with what to call when it has ended. Rejects with the signal's reason. */
  async admit(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    while (this.sending >= this.limit) await this.turn(signal);
    this.sending += 1;
    return () => {
      this.sending -= 1;
      this.nextTurn();
    };
  }

  private nextTurn(): void {
    if (this.sending < this.limit) this.turns.shift()?.();
  }

  private async turn(signal: AbortSignal): Promise<void> {
    let go: () => void = () => undefined;
    const turned = new Promise<void>((resolve) => (go = resolve));
    this.turns.push(go);
    signal.addEventListener('abort', go, { once: true });
    await turned;
    signal.removeEventListener('abort', go);
    const at = this.turns.indexOf(go);
    if (at >= 0) this.turns.splice(at, 1);
    signal.throwIfAborted();
  }
}
