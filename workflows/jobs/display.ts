import type { Finished, ShownSlice } from '../../activities/index.js';
import type { TimeLeft, Waits } from '../../src/core/jobs/details.js';
import { noFigures, type JobFigures, type JobProgress, type ShownJob } from '../../src/core/jobs/progress.js';
import type { JobInput, StatusView } from '../messages.js';
import { JobDetails } from './details.js';
import { JobLists } from './lists.js';

type Ended = Extract<Finished, { kind: 'ended' }>;

/** How far a job is, for its own run, its status query and the Temporal UI. */
export class JobDisplay {
  private progress: JobProgress | null = null;
  private readonly details: JobDetails;
  private readonly lists: JobLists;

  constructor(job: JobInput, carried: Waits | undefined, time: () => TimeLeft | null) {
    this.details = new JobDetails(carried, time);
    this.lists = new JobLists(job);
  }

  get last(): JobProgress | null {
    return this.progress;
  }

  get figures(): JobFigures {
    return this.progress?.figures ?? noFigures;
  }

  /** A new run of the workflow goes on with them. */
  get waits(): Waits {
    return this.details.waits;
  }

  /** For activities and timers. */
  get summary(): string {
    return this.details.summary;
  }

  /** Signals so far that labels were changed. */
  get relabels(): number {
    return this.lists.relabels;
  }

  prepares(): void {
    this.details.prepares();
  }

  begins(progress: JobProgress): void {
    this.progress = progress;
    this.details.begins(progress);
  }

  changed(status: StatusView['status']): void {
    this.lists.status(status);
    this.details.status(status);
  }

  /** Shows a slice that began when there were that many `relabels`. */
  async rests(slice: ShownSlice, relabels: number): Promise<void> {
    this.progress = slice.progress ?? this.progress;
    this.details.rests(slice);
    if (!slice.row) return;
    this.note(slice.row.shown);
    await this.lists.show(slice.row.shown, relabels);
  }

  ended({ outcome, summary, labels: { tags, metadata } }: Ended): void {
    this.note(summary);
    this.details.ended(outcome, summary);
    const { name, rollouts, bestReward, verdict, costUsd } = summary;
    this.lists.end(outcome, { name, tags, rollouts, bestReward }, { verdict, costUsd, metadata });
  }

  /** Takes over what is on record, which may be more than the search has taken in. */
  private note({ rollouts: rolloutsCompleted, bestReward }: Pick<ShownJob, 'rollouts' | 'bestReward'>): void {
    const { progress } = this;
    if (progress) this.progress = { ...progress, figures: { ...progress.figures, rolloutsCompleted, bestReward } };
  }
}
