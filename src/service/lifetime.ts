import type { Logger } from 'pino';

type Step = () => Promise<void> | void;

/** The service was told to stop while it started. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

/**
 * The running parts of a service: each adds its stop when it starts. AsyncDisposableStack may take
 * its place once Node 24 is the floor.
 */
export class Lifetime {
  /** Rejects when a part cannot go on. */
  readonly ended: Promise<void>;
  /** Reports that a part cannot go on. */
  readonly fail: (error: Error) => void;
  readonly #log: Pick<Logger, 'error'>;
  readonly #stops: Step[] = [];
  #isStopping = false;

  constructor(log: Pick<Logger, 'error'>) {
    let fail!: (error: Error) => void;
    this.ended = new Promise<void>((_, reject) => (fail = reject));
    this.ended.catch((err: Error) => log.error({ err }, 'a part of the service has stopped'));
    this.fail = fail;
    this.#log = log;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Begins to stop a part that started during the stop, then throws a StoppedError. */
  onStop(step: Step): void {
    this.#stops.push(step);
    if (!this.#isStopping) return;
    void this.stop().catch((err: Error) => this.#log.error({ err }, 'a part that started late did not stop'));
    throw new StoppedError('The service stopped while it started.');
  }

  /** Stops the parts, the last to start first. Throws the first failure; logs the others. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const failures: unknown[] = [];
    for (const step of this.#stops.splice(0).reverse()) {
      try {
        await step();
      } catch (err) {
        if (failures.push(err) > 1) this.#log.error({ err }, 'another part of the service did not stop as it should');
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
