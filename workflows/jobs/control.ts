import type { SearchAttributePair } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  ContinueAsNew,
  isCancellation,
  log,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { GateEvaluation, Rest } from '../../activities/index.js';
import type { JobEnd, JobOutcome } from '../../src/core/jobs/outcome.js';
import { noFigures, type JobProgress, type JobSummary } from '../../src/core/jobs/progress.js';
import { finish, prepare, stopWork, type drive } from '../activities.js';
import {
  bestRewardAttribute,
  rolloutsAttribute,
  statusAttribute,
  statusQuery,
  stopReasonAttribute,
  type JobInput,
  type StatusView,
} from '../messages.js';
import { BackOff } from './back-off.js';
import { closeWorkflow, endOfError } from './close.js';
import type { Received } from './commands.js';
import { Decisions } from './decisions.js';
import { isAtHistoryLimit, runUntilHistoryLimit } from './history-limit.js';
import { readDriven, readPrepared } from './results.js';
import { RunningTime } from './running-time.js';

/** What a run of the workflow hands to the next one. */
export interface CarriedJob {
  status: 'running' | 'paused';
  pauses: number;
  inbox: Received[];
  /** The rest of the running time; null: no limit. */
  leftMs: number | null;
  /** The rest at the first run's begin. */
  limitMs: number | null;
  progress: JobProgress;
}

/** `carried`: state of the previous run (continue-as-new). `gate`: set by a deployment's gate. */
export interface JobWorkflowInput extends JobInput {
  gate?: GateEvaluation;
  carried?: CarriedJob;
}

type FailedJob = Extract<JobEnd, { kind: 'failed' }>;

/** A job whose row is closed. */
export interface ClosedJob {
  outcome: JobOutcome;
  summary: JobSummary;
}

type Beginning = Pick<CarriedJob, 'leftMs' | 'progress'> & Partial<Pick<CarriedJob, 'limitMs'>>;

/** Stopped work returns at once, unless its worker was killed. */
const stopTimeout = '30 seconds';

/**
 * The status of a job, its slices of work, the clock, the status query and the end of its workflow.
 * Each decision is recorded before the next is taken.
 */
export class JobControl {
  private readonly decisions: Decisions;
  private readonly backOff = new BackOff();
  private progress: JobProgress | null = null;
  private clock: RunningTime | null = null;
  private limitMs: number | null = null;
  private interruption: JobEnd | null = null;
  private readonly workflowScope = CancellationScope.current();
  private readonly workScope = new CancellationScope();
  private isDriving = false;
  private readonly isContinued: boolean;
  private readonly job: JobInput;

  constructor(job: JobInput, carried: CarriedJob | undefined) {
    this.job = job;
    this.isContinued = carried !== undefined;
    const { status = 'running', pauses = 0, inbox = [] } = carried ?? {};
    this.decisions = new Decisions(job, { status, pauses }, inbox, (end) => this.interrupt(end));
    setHandler(statusQuery, () => this.view, {
      description: 'Status, generation, best candidate, best reward and budget as the workflow sees them.',
    });
  }

  /** Prepares the job and begins with it. */
  async prepare(): Promise<void> {
    for (;;) {
      const prepared = readPrepared(await prepare(this.job));
      if (prepared) return this.begin(prepared);
      log.warn('the result of the preparation is unreadable; preparing again');
      await this.rest(null, false);
    }
  }

  /** Shows the progress and starts the clock, which stands while the job is paused. */
  begin({ leftMs, limitMs = leftMs, progress }: Beginning): void {
    this.show(progress);
    this.backOff.note(progress);
    // A job that is prepared again, after a restore, keeps its clock.
    if (this.clock) return;
    this.limitMs = limitMs;
    if (leftMs === null) return;
    this.clock = new RunningTime(leftMs, this.isContinued);
    this.clock
      .expired(() => this.decisions.state.status === 'running')
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
    await condition(() => this.mayWork || isAtHistoryLimit());
    if (isAtHistoryLimit()) await this.continueAsNew();
  }

  /** Goes on with the work until it rests, at the latest at the history limit. */
  async driving(activity: typeof drive): Promise<Rest> {
    // Those of signals so far are read by the activity.
    this.decisions.inbox.hasRewards = false;
    const decided = this.decisions.count;
    let hasResult = false;
    const value = await runUntilHistoryLimit(
      async () => {
        this.isDriving = true;
        try {
          const result: unknown = await activity.executeWithOptions({ summary: this.progress?.next ?? '' }, [this.job]);
          hasResult = true;
          return result;
        } finally {
          this.isDriving = false;
        }
      },
      () => this.isCancelled(),
    );
    const result = readDriven(value);
    if (hasResult && !result) log.warn('the result of the work is unreadable; going on from the record');
    if (result?.progress) this.show(result.progress);
    const isCalled = this.decisions.count !== decided || !this.decisions.isSettled;
    if (result?.state && !isCalled) this.decisions.adopt(result.state);
    const rest = result?.rest ?? { kind: 'again' };
    if (rest.kind === 'again' || rest.kind === 'unprepared')
      await this.rest(result?.progress ?? this.progress, isCalled);
    return rest;
  }

  /** Resolves at a reward signal, at the history limit, or after an hour, if a signal was lost. */
  async untilRewards(): Promise<void> {
    await condition(() => this.decisions.inbox.hasRewards || isAtHistoryLimit(), '1 hour');
  }

  /** Closes the row, if the record agrees that the work is over; null: some is left. */
  async conclude(end: JobEnd): Promise<ClosedJob | null> {
    const { decisions } = this;
    decisions.isHeld = true;
    const closed = await this.close(end);
    if (closed) return closed;
    log.warn('the record has work left; going on');
    decisions.isHeld = false;
    await this.rest(this.progress, false);
    return null;
  }

  /** Runs the work until its row is closed, then closes the workflow. Passes ContinueAsNew on. */
  async closing(work: () => Promise<ClosedJob | FailedJob>): Promise<JobSummary> {
    let end: ClosedJob | JobEnd;
    try {
      // The loop of decisions ends only by cancellation; its failure ends the work.
      end = await this.workScope.run(() => Promise.race([work(), this.decisions.decideAsReceived()]));
    } catch (error) {
      if (error instanceof ContinueAsNew) throw error;
      if (isCancellation(error)) {
        await CancellationScope.nonCancellable(() => this.decisions.decideRest(() => this.interruption !== null));
        // The row follows once the work has stopped.
        if (!this.interruption) this.decisions.showStatus('cancelled');
      }
      end = this.interruption ?? endOfError(error);
    }
    // Ends the loop of decisions and all other waits of the work.
    this.workScope.cancel();
    const { outcome, summary } = 'outcome' in end ? end : await this.closed(end);
    await closeWorkflow(outcome);
    return summary;
  }

  private get mayWork(): boolean {
    return this.decisions.isSettled && this.decisions.state.status === 'running';
  }

  private get view(): StatusView {
    return { status: this.decisions.state.status, ...(this.progress?.figures ?? noFigures) };
  }

  /** Search attributes are events in the history, so they follow the best reward. */
  private show(progress: JobProgress): void {
    const before = this.progress?.figures.bestReward ?? null;
    this.progress = progress;
    this.decisions.takes = progress.takes;
    setCurrentDetails(progress.details);
    const { bestReward, rolloutsCompleted } = progress.figures;
    if (bestReward !== before) upsertSearchAttributes(attributesOf(bestReward, rolloutsCompleted));
  }

  /** Ends the job's work. The first interruption counts. */
  private interrupt(end: JobEnd): void {
    this.interruption ??= end;
    this.workScope.cancel();
  }

  /** Continues in a new run. Undecided commands go with it. */
  private async continueAsNew(): Promise<never> {
    this.decisions.isHeld = true;
    await this.decisions.untilIdle();
    await condition(() => !this.isDriving && allHandlersFinished());
    // A cancellation would not reach the new run, so wait for it to end this one.
    if (this.isCancelled()) await condition(() => false);
    const carried: CarriedJob = {
      status: this.decisions.state.status === 'paused' ? 'paused' : 'running',
      pauses: this.decisions.state.pauses,
      inbox: this.decisions.inbox.undecided(),
      leftMs: this.clock && this.clock.left,
      limitMs: this.limitMs,
      progress: this.progress!,
    };
    return continueAsNew<(input: JobWorkflowInput) => Promise<JobSummary>>({ ...this.job, carried });
  }

  private isCancelled(): boolean {
    return this.workflowScope.consideredCancelled || this.workScope.consideredCancelled;
  }

  /** Waits after a slice that changed nothing, until a decision or the history limit. */
  private async rest(progress: JobProgress | null, isCalled: boolean): Promise<void> {
    const ms = this.backOff.after(progress, isCalled);
    if (ms > 0) await condition(() => !this.mayWork || isAtHistoryLimit(), ms);
  }

  private async closed(end: JobEnd): Promise<ClosedJob> {
    const closed = await CancellationScope.nonCancellable(() => this.close(end));
    if (!closed) throw new TypeError('An end that does not say that the work is complete closes the row.');
    return closed;
  }

  /** Closes the row; null: work is left on record. */
  private async close(end: JobEnd): Promise<ClosedJob | null> {
    await this.decisions.untilIdle();
    if (this.isDriving) {
      await stopWork(this.job);
      const hasStopped = await condition(() => !this.isDriving, stopTimeout);
      if (!hasStopped) log.warn('the work did not stop');
    }
    const usedMs = this.clock ? this.limitMs! - this.clock.left : 0;
    const ended = await finish({ ...this.job, end, accepted: this.decisions.accepted, usedMs });
    if (ended.kind === 'unfinished') return null;
    const { outcome, summary } = ended;
    this.decisions.showStatus(outcome.status);
    upsertSearchAttributes([
      { key: statusAttribute, value: outcome.status },
      { key: stopReasonAttribute, value: outcome.stoppedBy },
      ...attributesOf(summary.bestReward, summary.rollouts),
    ]);
    upsertMemo({ ...summary });
    return ended;
  }
}

function attributesOf(bestReward: number | null, rollouts: number): SearchAttributePair[] {
  return [
    { key: rolloutsAttribute, value: rollouts },
    ...(bestReward === null ? [] : [{ key: bestRewardAttribute, value: bestReward }]),
  ];
}
