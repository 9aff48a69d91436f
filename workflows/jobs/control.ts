import {
  allHandlersFinished,
  CancellationScope,
  condition,
  ContinueAsNew,
  isCancellation,
  log,
  makeContinueAsNewFunc,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { Finished, GateEvaluation, Rest } from '../../activities/index.js';
import type { Waits } from '../../src/core/jobs/details.js';
import type { JobEnd, JobOutcome } from '../../src/core/jobs/outcome.js';
import type { JobProgress, JobSummary } from '../../src/core/jobs/progress.js';
import { awaitsTraffic, finish, prepare, readTimeLeft, stopWork, type drive } from '../activities.js';
import { statusQuery, type JobInput, type StatusView } from '../messages.js';
import { BackOff } from './back-off.js';
import { closeWorkflow, endOfError, failWorkflow } from './close.js';
import type { Received } from './commands.js';
import { Decisions } from './decisions.js';
import { JobDisplay } from './display.js';
import { isAtHistoryLimit, runUntilHistoryLimit } from './history-limit.js';
import { listed } from './lists.js';
import { readDriven, readFinished, readProgress } from './results.js';
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
  waits: Waits;
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
  private readonly display: JobDisplay;
  private readonly decisions: Decisions;
  private readonly backOff = new BackOff();
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
    // Before the inbox, which takes signals without a handler.
    this.display = new JobDisplay(
      job,
      carried?.waits,
      () => this.clock && { leftMs: this.clock.left, isRunning: this.decisions.state.status === 'running' },
    );
    this.decisions = new Decisions(job, { status, pauses }, inbox, {
      changed: (status) => this.display.changed(status),
      ended: (end) => this.interrupt(end),
    });
    setHandler(statusQuery, () => this.view, {
      description: 'Status, generation, best candidate, best reward and budget as the workflow sees them.',
    });
  }

  /** Prepares the job and begins with it. */
  async prepare(): Promise<void> {
    this.display.prepares();
    for (;;) {
      const progress = readProgress(await prepare(this.job));
      if (progress) return this.begin({ progress, leftMs: await readTimeLeft(this.job) });
      log.warn('the result of the preparation is unreadable; preparing again');
      await this.rest(false);
    }
  }

  /** Shows the progress and starts the clock, which stands while the job is paused. */
  begin({ leftMs, limitMs = leftMs, progress }: Beginning): void {
    this.decisions.takes = progress.takes;
    this.backOff.note(progress);
    // A job that is prepared again, after a restore, keeps its clock.
    if (!this.clock) this.startClock(leftMs, limitMs);
    this.display.begins(progress);
  }

  private startClock(leftMs: number | null, limitMs: number | null): void {
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
    const { relabels } = this.display;
    let hasResult = false;
    const value = await runUntilHistoryLimit(
      async () => {
        this.isDriving = true;
        try {
          const result: unknown = await activity.executeWithOptions({ summary: this.display.summary }, [this.job]);
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
    const isCalled = this.decisions.count !== decided || !this.decisions.isSettled;
    if (result) {
      if (result.progress) this.decisions.takes = result.progress.takes;
      if (result.state && !isCalled) this.decisions.compare(result.state);
      await this.display.rests(result, relabels);
    }
    const rest = result?.rest ?? { kind: 'again' };
    if (rest.kind === 'again' || rest.kind === 'unprepared') await this.rest(isCalled);
    return rest;
  }

  /** Resolves at a reward signal, at the history limit, or after an hour, if a signal was lost. */
  async untilRewards(): Promise<void> {
    const { summary } = this.display;
    // An operator may have completed the work by hand.
    if (!(await awaitsTraffic(this.job))) return this.rest(false);
    await condition(() => this.decisions.inbox.hasRewards || isAtHistoryLimit(), '1 hour', { summary });
  }

  /** Closes the row, if the record agrees that the work is over; null: some is left. */
  async conclude(end: JobEnd): Promise<ClosedJob | null> {
    const { decisions } = this;
    decisions.isHeld = true;
    const closed = await this.close(end);
    if (closed) return closed;
    log.warn('the record has work left; going on');
    decisions.isHeld = false;
    await this.rest(false);
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
    return { status: this.decisions.state.status, ...this.display.figures };
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
      progress: this.display.last!,
      waits: this.display.waits,
    };
    const next = makeContinueAsNewFunc<(input: JobWorkflowInput) => Promise<JobSummary>>(listed());
    return next({ ...this.job, carried });
  }

  private isCancelled(): boolean {
    return this.workflowScope.consideredCancelled || this.workScope.consideredCancelled;
  }

  /** Waits after a slice that changed nothing, until a decision or the history limit. */
  private async rest(isCalled: boolean): Promise<void> {
    const ms = this.backOff.after(this.display.last, isCalled);
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
      const summary = 'the work in flight stops';
      const hasStopped = await condition(() => !this.isDriving, stopTimeout, { summary });
      if (!hasStopped) log.warn('the work did not stop');
    }
    const usedMs = this.clock ? this.limitMs! - this.clock.left : 0;
    const ended = await this.finish({ ...this.job, end, accepted: this.decisions.accepted, usedMs });
    if (ended.kind === 'unfinished') return null;
    this.decisions.showStatus(ended.outcome.status);
    this.display.ended(ended);
    return ended;
  }

  private async finish(work: Parameters<typeof finish>[0]): Promise<Finished> {
    for (;;) {
      // A job that is gone cannot be closed.
      const finished = readFinished(await finish(work).catch(failWorkflow));
      if (finished) return finished;
      log.warn('the result of the end is unreadable; ending again');
      await sleep('1 second');
    }
  }
}
