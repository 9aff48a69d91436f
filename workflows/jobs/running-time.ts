import { condition, workflowInfo } from '@temporalio/workflow';

const summary = "the job's time limit: budget.max_minutes, or timeout of an evaluation";

/** A job's remaining running time, pauses not counted, by the workflow's durable clock. */
export class RunningTime {
  private leftMs: number;
  /** When the clock was started; null while it stands. */
  private since: number | null;

  /** `resumed`: the job continued as new, so count from the run's start on the server. */
  constructor(leftMs: number, resumed: boolean) {
    this.leftMs = leftMs;
    this.since = resumed ? workflowInfo().startTime.getTime() : null;
  }

  /** Remaining milliseconds; negative once the time is over. */
  get left(): number {
    return this.leftMs - (this.since === null ? 0 : Date.now() - this.since);
  }

  /** Starts the clock, which runs while `isRunning`, and resolves when the time is over. */
  async expired(isRunning: () => boolean): Promise<void> {
    for (;;) {
      if (!isRunning()) this.since = null;
      await condition(isRunning);
      this.since ??= Date.now();
      const paused = await condition(() => !isRunning(), Math.max(this.left, 0), { summary });
      this.leftMs = this.left;
      this.since = null;
      if (!paused || this.leftMs <= 0) return;
    }
  }
}
