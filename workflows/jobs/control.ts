import {
  allHandlersFinished,
  CancellationScope,
  condition,
  ContinueAsNew,
  isCancellation,
  log,
  makeContinueAsNewFunc,
  setHandler,
} from '@temporalio/workflow';
import type { GateEvaluation, Rest } from '../../activities/index.js';
import type { Waits } from '../../src/core/jobs/details.js';
import type { JobEnd, JobOutcome } from '../../src/core/jobs/outcome.js';
import { noFigures, type JobProgress, type JobSummary, type ShownJob } from '../../src/core/jobs/progress.js';
import { finish, record, type drive } from '../activities.js';
import { statusQuery, type JobInput, type StatusView } from '../messages.js';
import { closeWorkflow, endOfError, failWorkflow } from './close.js';
import { decideCommands, type PendingCommand } from './commands.js';
import { JobDetails } from './details.js';
import { isAtHistoryLimit, runUntilHistoryLimit } from './history-limit.js';
import { CommandInbox } from './inbox.js';
import { JobLists, listed } from './lists.js';
import { RunningTime } from './running-time.js';

/** What a run of the workflow hands to the next one. */
export interface CarriedJob {
  status: 'running' | 'paused';
  pauses: number;
  inbox: PendingCommand[];
  /** The rest of the running time; null: no limit. */
  leftMs: number | null;
  /** The rest at the first run's begin. */
  limitMs: number | null;
  progress: JobProgress;
  waits: Waits;
}

/** `carried`: state of the previous run (continue-as-new). `gate`: set by a deployment's gate. */
export interface JobWorkflowInput extends JobInput {
  gate?: GateEvaluation;
  carried?: CarriedJob;
}

type Beginning = Pick<CarriedJob, 'leftMs' | 'progress'> & Partial<Pick<CarriedJob, 'limitMs'>>;

/** Stopped work returns at once, unless its worker was killed. */
const stopTimeout = '30 seconds';

/**
 * Pause, resume, cancel and reward signals, the clock, the status query and the end of a job's
 * workflow. Each decision is recorded before the next is taken.
 */
export class JobControl {
  readonly details: JobDetails;
  private readonly lists: JobLists;
  private status: StatusView['status'];
  private progress: JobProgress | null = null;
  private clock: RunningTime | null = null;
  private limitMs: number | null = null;
  private readonly inbox: CommandInbox;
  private readonly accepted: string[] = [];
  private interruption: JobEnd | null = null;
  private readonly workflowScope = CancellationScope.current();
  private readonly workScope = new CancellationScope();
  private isDeciding = false;
  private isContinuing = false;
  private isDriving = false;
  private pauses: number;
  private readonly isContinued: boolean;
  private readonly job: JobInput;

  constructor(job: JobInput, carried: CarriedJob | undefined) {
    this.job = job;
    this.isContinued = carried !== undefined;
    this.status = carried?.status ?? 'running';
    this.pauses = carried?.pauses ?? 0;
    this.details = new JobDetails(
      carried?.waits,
      () => this.clock && { leftMs: this.clock.left, isRunning: this.status === 'running' },
    );
    // Before the inbox, which takes signals without a handler.
    this.lists = new JobLists(job);
    this.inbox = new CommandInbox(carried?.inbox ?? []);
    setHandler(statusQuery, () => this.view, {
      description: 'Status, generation, best candidate, best reward and budget as the workflow sees them.',
    });
  }

  /** Shows the progress and starts the clock, which stands while the job is paused. */
  begin({ leftMs, limitMs = leftMs, progress }: Beginning): void {
    this.progress = progress;
    this.limitMs = limitMs;
    if (leftMs !== null) this.startClock(new RunningTime(leftMs, this.isContinued));
    this.details.begins(progress);
  }

  private startClock(clock: RunningTime): void {
    this.clock = clock;
    this.clock
      .expired(() => this.status === 'running')
      .then(() => this.interrupt({ kind: 'expired' }))
      .catch((error: unknown) => {
        // The job ended before its time was over.
        if (!isCancellation(error)) throw error;
      });
  }

  /**
   * Resolves when the job may start new work. At the history limit it rejects with ContinueAsNew,
   * so no work may be in progress.
   */
  async untilRunnable(): Promise<void> {
    await condition(() => (this.inbox.isEmpty && !this.isDeciding && this.status === 'running') || isAtHistoryLimit());
    if (isAtHistoryLimit()) await this.continueAsNew();
  }

  /** Goes on with the work until it rests, at the latest at the history limit. */
  async driving(activity: typeof drive): Promise<Rest> {
    // Those of signals so far are read by the activity.
    this.inbox.hasRewards = false;
    const { relabels } = this.lists;
    const result = await runUntilHistoryLimit(
      async () => {
        this.isDriving = true;
        try {
          return await activity.executeWithOptions({ summary: this.details.summary }, [this.job]);
        } finally {
          this.isDriving = false;
        }
      },
      () => this.isCancelled(),
    );
    if (!result) return { kind: 'again' };
    this.progress = result.progress ?? this.progress;
    this.details.rests(result);
    if (result.row) await this.show(result.row.shown, relabels);
    return result.rest;
  }

  /** Resolves at a reward signal, at the history limit, or after an hour, if a signal was lost. */
  async untilRewards(): Promise<void> {
    const { summary } = this.details;
    await condition(() => this.inbox.hasRewards || isAtHistoryLimit(), '1 hour', { summary });
  }

  /** Runs the work to its end, then closes row and workflow. ContinueAsNew passes through. */
  async closing(work: () => Promise<JobEnd>): Promise<JobSummary> {
    let end: JobEnd;
    try {
      // The loop of commands ends only by cancellation; its failure ends the work.
      end = await this.workScope.run(() => Promise.race([work(), this.decideAsReceived()]));
    } catch (error) {
      if (error instanceof ContinueAsNew) throw error;
      if (isCancellation(error)) {
        await CancellationScope.nonCancellable(() => this.decideRest());
        // The row follows once the work has stopped.
        if (!this.interruption) this.status = 'cancelled';
      }
      end = this.interruption ?? endOfError(error);
    }
    // Ends the loop of commands and all other waits of the work.
    this.workScope.cancel();
    const { outcome, summary } = await CancellationScope.nonCancellable(() => this.close(end));
    await closeWorkflow(outcome);
    return summary;
  }

  private get view(): StatusView {
    return { status: this.status, ...(this.progress?.figures ?? noFigures) };
  }

  /** Shows what is on record, which may be more than the search has taken in. */
  private async show(shown: ShownJob, relabels: number): Promise<void> {
    this.note(shown);
    await this.lists.show(shown, relabels);
  }

  private note({ rollouts: rolloutsCompleted, bestReward }: Pick<ShownJob, 'rollouts' | 'bestReward'>): void {
    const { progress } = this;
    if (progress) this.progress = { ...progress, figures: { ...progress.figures, rolloutsCompleted, bestReward } };
  }

  /** Ends the job's work. The first interruption counts. */
  private interrupt(end: JobEnd): void {
    this.interruption ??= end;
    this.workScope.cancel();
  }

  /** Continues in a new run. Undecided commands go with it. */
  private async continueAsNew(): Promise<never> {
    this.isContinuing = true;
    await condition(() => !this.isDeciding && !this.isDriving && allHandlersFinished());
    // A cancellation would not reach the new run, so wait for it to end this one.
    if (this.isCancelled()) await condition(() => false);
    const carried: CarriedJob = {
      status: this.status === 'paused' ? 'paused' : 'running',
      pauses: this.pauses,
      inbox: this.inbox.undecided(),
      leftMs: this.clock && this.clock.left,
      limitMs: this.limitMs,
      progress: this.progress!,
      waits: this.details.waits,
    };
    const next = makeContinueAsNewFunc<(input: JobWorkflowInput) => Promise<JobSummary>>(listed());
    return next({ ...this.job, carried });
  }

  private isCancelled(): boolean {
    return this.workflowScope.consideredCancelled || this.workScope.consideredCancelled;
  }

  private async close(end: JobEnd): Promise<{ outcome: JobOutcome; summary: JobSummary }> {
    await condition(() => !this.isDeciding);
    if (this.isDriving) {
      await record({ ...this.job, decision: { isEnding: true } });
      const summary = 'the work in flight stops';
      const hasStopped = await condition(() => !this.isDriving, stopTimeout, { summary });
      if (!hasStopped) log.warn('the work did not stop');
    }
    const usedMs = this.clock ? this.limitMs! - this.clock.left : 0;
    // A job that is gone cannot be closed.
    const ended = await finish({ ...this.job, end, accepted: this.accepted, usedMs }).catch(failWorkflow);
    const { outcome, summary, labels } = ended;
    this.status = outcome.status;
    this.note(summary);
    this.details.ended(outcome, summary);
    const { name, rollouts, bestReward, verdict, costUsd } = summary;
    const { tags, metadata } = labels;
    this.lists.end(outcome, { name, tags, rollouts, bestReward }, { verdict, costUsd, metadata });
    return ended;
  }

  private showStatus(): void {
    this.lists.status(this.status);
    this.details.status(this.status);
  }

  private async decideAsReceived(): Promise<never> {
    for (;;) {
      await condition(() => !this.inbox.isEmpty && !this.isContinuing);
      this.isDeciding = true;
      try {
        await this.decide(this.inbox.take());
      } finally {
        this.isDeciding = false;
      }
    }
  }

  /** Temporal's cancellation overtakes earlier signals, which may have ended the job. */
  private async decideRest(): Promise<void> {
    await condition(() => !this.isDeciding);
    while (!this.interruption && !this.inbox.isEmpty) await this.decide(this.inbox.take());
  }

  private async decide(commands: PendingCommand[]): Promise<void> {
    const before = this.status;
    const { status, pauses } = this;
    const takes = this.progress?.takes ?? [];
    const { next, outcomes, events, hasPrompt, end, accepted } = decideCommands({ status, pauses }, commands, takes);
    ({ status: this.status, pauses: this.pauses } = next);
    if (accepted) this.accepted.push(accepted);
    if (this.status !== before) this.showStatus();
    if (outcomes.length > 0 || events.length > 0) {
      const recorded = this.status === 'paused' ? 'paused' : 'running';
      // Recorded even if the work ends meanwhile: an answered command must be in the log.
      await CancellationScope.nonCancellable(() =>
        record({
          ...this.job,
          decision: {
            commands: outcomes,
            ...(hasPrompt && { hasPrompt }),
            ...(events.length > 0 && { status: recorded, events }),
          },
        }),
      );
    }
    if (!end) return;
    // The row follows once the work has stopped.
    this.status = end.kind === 'cancelled' ? 'cancelled' : 'completed';
    this.interrupt(end);
  }
}
