import { setCurrentDetails } from '@temporalio/workflow';
import type { ShownSlice } from '../../activities/index.js';
import { detailsOf, noWaits, type TimeLeft, type Waits } from '../../src/core/jobs/details.js';
import { stopReasonOf, type JobOutcome } from '../../src/core/jobs/outcome.js';
import type { JobProgress, JobSummary } from '../../src/core/jobs/progress.js';
import type { StatusView } from '../messages.js';

/** Bytes of a summary in Temporal: 400. */
const maxSummary = 200;

/** The current details of a job's workflow: what it does or waits for, and since when. */
export class JobDetails {
  /** A new run of the workflow goes on with them. */
  waits: Waits;
  private progress: JobProgress | null = null;
  private readonly time: () => TimeLeft | null;

  constructor(carried: Waits | undefined, time: () => TimeLeft | null) {
    this.waits = carried ?? noWaits;
    this.time = time;
  }

  prepares(): void {
    this.change({ preparingSince: Date.now() });
  }

  begins(progress: JobProgress): void {
    this.progress = progress;
    this.change({ preparingSince: null });
  }

  status(status: StatusView['status']): void {
    this.change({ pausedSince: status === 'paused' ? (this.waits.pausedSince ?? Date.now()) : null });
  }

  /** The work rests; with the same work before it, it waits since then. */
  rests({ rest, progress, row }: ShownSlice): void {
    const isSame = progress?.next === this.progress?.next;
    this.progress = progress ?? this.progress;
    this.change({
      preparingSince: null,
      trafficSince: rest.kind === 'rewards' ? ((isSame ? this.waits.trafficSince : null) ?? Date.now()) : null,
      rewards: row?.rewards ?? null,
    });
  }

  ended(outcome: JobOutcome, { rollouts, bestReward }: Pick<JobSummary, 'rollouts' | 'bestReward'>): void {
    const reward = bestReward === null ? 'none' : bestReward.toFixed(3);
    setCurrentDetails(`${outcome.status} (${stopReasonOf(outcome)}): ${rollouts} answers, best reward ${reward}`);
  }

  /** Its wait, else the work that comes next, for activities and timers. */
  get summary(): string {
    const [wait] = detailsOf(this.waits, null, null, Date.now()).split('\n');
    return (wait || this.progress?.next || '').slice(0, maxSummary);
  }

  private change(waits: Partial<Waits>): void {
    this.waits = { ...this.waits, ...waits };
    setCurrentDetails(detailsOf(this.waits, this.progress, this.time(), Date.now()));
  }
}
