const quietMs = 1_000;

/**
 * How many rollouts may be in flight: halves when the container pushes back (429, 503), at most once a second, and
 * grows by one for each `limit` successes, up to the job's `max_concurrent`. Additive increase, multiplicative decrease.
 */
export class Concurrency {
  private allowed: number;
  private loweredAt = -Infinity;
  private readonly max: number;

  constructor(max: number) {
    this.max = max;
    this.allowed = max;
  }

  get limit(): number {
    return Math.max(1, Math.floor(this.allowed));
  }

  lower(): void {
    if (performance.now() - this.loweredAt < quietMs) return;
    this.loweredAt = performance.now();
    this.allowed = Math.max(1, this.allowed / 2);
  }

  raise(): void {
    this.allowed = Math.min(this.max, this.allowed + 1 / this.allowed);
  }
}
