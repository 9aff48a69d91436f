import type { JobProgress } from '../../src/core/jobs/progress.js';

const firstMs = 500;
const longestMs = 30_000;

/** Pauses between slices of work that change nothing, so that no fault makes a job spin. */
export class BackOff {
  private slices = 0;
  private last = '';

  /** The job's progress, as of slices that do something. */
  note(progress: JobProgress | null): void {
    this.last = JSON.stringify(progress);
  }

  /** Milliseconds to wait after a slice. `isCalled`: a decision asked for it meanwhile. */
  after(progress: JobProgress | null, isCalled: boolean): number {
    const before = this.last;
    this.note(progress);
    this.slices = isCalled || before !== this.last ? 0 : this.slices + 1;
    return this.slices === 0 ? 0 : Math.min(firstMs * 2 ** (this.slices - 1), longestMs);
  }
}
