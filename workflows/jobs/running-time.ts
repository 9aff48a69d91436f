import { condition, workflowInfo } from '@temporalio/workflow';

/**
 * How long a job may run, pauses not counted. Durable, since the workflow's own clock measures it; a run that continues as
 * new hands on what is left.
 */
export class RunningTime {
  private leftMs: number;
  /** When it began to run down; null while it does not. */
  private since: number | null;

  /** `resumed`: a run that went on counts from its start on the server, not from when a worker first came to it. */
  constructor(leftMs: number, resumed: boolean) {
    this.leftMs = leftMs;
    this.since = resumed ? workflowInfo().startTime.getTime() : null;
  }

  /** Milliseconds that are left; below 0 where it is over. */
  get left(): number {
    return this.leftMs - (this.since === null ? 0 : Date.now() - this.since);
  }

  /** Resolves when it is over. It runs down from now on, while `isRunning` says so. */
  async over(isRunning: () => boolean): Promise<void> {
    for (;;) {
      if (!isRunning()) this.since = null;
      await condition(isRunning);
      this.since ??= Date.now();
      const paused = await condition(() => !isRunning(), Math.max(this.left, 0));
      this.leftMs = this.left;
      this.since = null;
      if (!paused || this.leftMs <= 0) return;
    }
  }
}
