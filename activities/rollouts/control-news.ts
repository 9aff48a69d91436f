import type { JobRef } from '../../src/storage/jobs/events.js';
import type { Notifications } from '../../src/storage/db/notifications.js';

/** Listens to news of a job's control from its creation on, and keeps one until it is taken. */
export class ControlNews {
  private isPending = false;
  private take: (() => void) | null = null;
  private readonly stop: () => void;

  constructor(notifications: Pick<Notifications, 'on'>, job: JobRef) {
    this.stop = notifications.on('ratchet_control', job.jobId, () => {
      if (this.take) this.take();
      else this.isPending = true;
    });
  }

  /** Calls `take` at each news, and at once if there was one before. */
  listen(take: () => void): void {
    this.take = take;
    if (this.isPending) take();
  }

  close(): void {
    this.stop();
  }
}
