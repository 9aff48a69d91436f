import { Context } from '@temporalio/activity';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { ActivityDeps } from '../deps.js';
import { countLosses, type LossCount } from '../losses.js';

interface InterruptionSources {
  notifications: Pick<ActivityDeps['notifications'], 'on'>;
  /** Aborted when the worker shuts down. */
  draining: AbortSignal;
}

/** Receives interruptions. */
export interface InterruptionListener {
  /** The job's control may have changed. */
  onNews(): void;
  /** `isStopped` or `obsolete` has changed. */
  onStop(): void;
}

/**
 * Interruptions of an activity: news of the job's control, a request of its workflow, the worker's
 * shutdown. Collects them from its creation until `close`, and sends heartbeats meanwhile.
 */
export class Interruptions {
  /** Whether there was news of the job's control since the activity began. */
  hasNews = false;
  /** Whether an operator paused the activity: its next attempt begins when it is unpaused. */
  isPaused = false;
  /** The workflow asked for the results so far. */
  private isAskedToEnd = false;
  private readonly listeners = new Set<InterruptionListener>();
  private readonly aborter = new AbortController();
  private readonly draining: AbortSignal;
  private readonly losses: LossCount;
  private readonly stopListening: () => void;

  /** `record` and `describe`: see `countLosses`. */
  constructor(
    { notifications, draining }: InterruptionSources,
    job: JobRef,
    record: number,
    describe: () => object = () => ({}),
  ) {
    const context = Context.current();
    this.losses = countLosses(record, draining, describe);
    this.draining = draining;
    const stop = () => this.stop();
    draining.addEventListener('abort', stop);
    const stopNews = notifications.on('ratchet_control', job.jobId, () => {
      this.hasNews = true;
      this.listeners.forEach((listener) => listener.onNews());
    });
    context.cancelled.catch((reason: unknown) => {
      const { cancelRequested = false, paused = false } = context.cancellationDetails ?? {};
      this.isPaused = paused && !cancelRequested;
      // The workflow asks for the results so far. If the job ends, its control row says `stop`.
      if (cancelRequested || paused) this.isAskedToEnd = true;
      // This attempt is obsolete, or the grace period is over: its outcomes would not count.
      else this.aborter.abort(reason);
      this.stop();
    });
    this.stopListening = () => {
      this.losses.end();
      stopNews();
      draining.removeEventListener('abort', stop);
    };
  }

  /** Whether nothing new may start. */
  get isStopped(): boolean {
    return this.isAskedToEnd || this.draining.aborted || this.obsolete.aborted;
  }

  /** Aborted once the activity's results no longer count. */
  get obsolete(): AbortSignal {
    return this.aborter.signal;
  }

  /** Makes this attempt obsolete. */
  giveUp(reason: Error): void {
    this.aborter.abort(reason);
    this.stop();
  }

  /** Adds a listener, which hears of earlier news at once. Returns its end. */
  listen(listener: InterruptionListener): () => void {
    this.listeners.add(listener);
    if (this.hasNews) listener.onNews();
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.stopListening();
  }

  private stop(): void {
    this.listeners.forEach((listener) => listener.onStop());
  }
}
