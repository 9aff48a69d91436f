import { RatchetError } from '../../../src/client/index.js';

/** Runs one load at a time, so that an older answer never replaces a newer one. */
export class Loads {
  private readonly run: () => Promise<void>;
  private running: Promise<void> | null = null;
  private next: Promise<void> | null = null;

  /** `run` does not fail. */
  constructor(run: () => Promise<void>) {
    this.run = run;
  }

  /** Begins a load unless one is running. */
  poll(): void {
    if (this.running === null) void this.begin();
  }

  /** A load that begins after this call: the running one may have read an earlier state. */
  again(): Promise<void> {
    if (this.running === null) return this.begin();
    this.next ??= this.running.then(() => {
      this.next = null;
      return this.begin();
    });
    return this.next;
  }

  private begin(): Promise<void> {
    this.running = this.run().finally(() => (this.running = null));
    return this.running;
  }
}

/** Whether another try would fail alike: there is no such thing, or the key may not see it. */
export const isFinal = (error: unknown): boolean =>
  error instanceof RatchetError && (error.status === 403 || error.status === 404);
