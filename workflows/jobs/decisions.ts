import { CancellationScope, condition, log } from '@temporalio/workflow';
import type { ControlState } from '../../activities/index.js';
import type { JobEnd } from '../../src/core/jobs/outcome.js';
import type { SuggestionKind } from '../../src/core/jobs/progress.js';
import { isTerminal } from '../../src/core/jobs/status.js';
import { record } from '../activities.js';
import { outside } from '../interceptors.js';
import type { JobInput } from '../messages.js';
import { decideCommands, type Received } from './commands.js';
import { CommandInbox } from './inbox.js';
import { readRecorded } from './results.js';

type Decision = Parameters<typeof record>[0]['decision'];

/** Hears of changes of the status, and of the decision that ends the job. */
export interface DecisionListener {
  changed(status: ControlState['status']): void;
  ended(end: JobEnd): void;
}

/**
 * The status of a job: decides signals in the order sent, each on record before the next is taken.
 * The record wins where it is in another state, as after an operator reset the workflow.
 */
export class Decisions {
  readonly inbox: CommandInbox;
  /** The commands that ended the job. */
  readonly accepted: string[] = [];
  /** The suggestions that the search can use. */
  takes: readonly SuggestionKind[] = [];
  /** While true, nothing is decided. */
  isHeld = false;
  /** Decisions begun, and states adopted. */
  count = 0;
  private isDeciding = false;
  /** Whether the record may be in another state. */
  private isDoubtful = false;
  private resets = 0;
  private current: ControlState;
  private readonly job: JobInput;
  private readonly listener: DecisionListener;

  constructor(job: JobInput, from: ControlState, received: readonly Received[], listener: DecisionListener) {
    this.job = job;
    this.current = from;
    this.inbox = new CommandInbox(received);
    this.listener = listener;
  }

  get state(): ControlState {
    return this.current;
  }

  /** Whether no decision is due or under way. */
  get isSettled(): boolean {
    return !this.isDue && !this.isDeciding;
  }

  /** Decides until it is cancelled. */
  async decideAsReceived(): Promise<never> {
    for (;;) {
      await condition(() => this.isDue && !this.isHeld);
      // Another wait that ended at the same moment may hold it by now.
      if (this.isHeld) continue;
      this.isDeciding = true;
      try {
        await this.decideNext();
      } finally {
        this.isDeciding = false;
      }
    }
  }

  /** Temporal's cancellation overtakes earlier signals, which may have ended the job. */
  async decideRest(hasEnded: () => boolean): Promise<void> {
    await this.untilIdle();
    while (!hasEnded() && this.isDue) await this.decideNext();
  }

  async untilIdle(): Promise<void> {
    await condition(() => !this.isDeciding);
  }

  /** Reads the record where a slice of work, or an operator in its place, says another state. */
  compare({ status, pauses }: ControlState): void {
    if (this.current.status !== status || this.current.pauses !== pauses) this.isDoubtful = true;
  }

  /** Takes over the state on record. */
  private adopt(state: ControlState): void {
    log.warn('the status on record differs and is taken over', { was: this.current.status, is: state.status });
    this.count += 1;
    this.change(state);
    if (!isTerminal(state.status)) return;
    const { jobId } = this.job;
    this.listener.ended({
      kind: 'failed',
      fault: { code: 'job_closed', message: `The job ${jobId} is ${state.status}.`, retryable: false },
    });
  }

  /** Shows a status that is not on record yet, as of a job that ends. */
  showStatus(status: ControlState['status']): void {
    this.current = { ...this.current, status };
  }

  private get isDue(): boolean {
    return !this.inbox.isEmpty || this.isDoubtful || outside.resets !== this.resets;
  }

  private async decideNext(): Promise<void> {
    if (outside.resets !== this.resets) {
      this.resets = outside.resets;
      // A reset may also have taken reward signals away.
      this.inbox.hasRewards = true;
      this.isDoubtful = true;
    }
    if (this.isDoubtful) {
      this.isDoubtful = false;
      await this.restate();
    }
    const received = this.inbox.take();
    if (received.length > 0) await this.decide(received);
  }

  /** Takes over the state on record, and lets work that an end had stopped go on. */
  private async restate(): Promise<void> {
    for (;;) {
      const { status } = this.current;
      if (isTerminal(status) || (await this.record({ status: status === 'paused' ? 'paused' : 'running' }))) return;
    }
  }

  private async decide(received: readonly Received[]): Promise<void> {
    this.count += 1;
    for (;;) {
      const from = this.current;
      const { next, outcomes, events, hasPrompt, end, accepted } = decideCommands(from, received, this.takes);
      this.change(next);
      const hasNews = events.some(({ type }) => type !== 'signal_ignored');
      const decision: Decision = {
        commands: outcomes,
        events,
        ...(hasPrompt && { hasPrompt }),
        ...(hasNews && { status: next.status === 'paused' ? 'paused' : 'running', pauses: next.pauses }),
      };
      // A command that ends the job is judged with its end.
      const isEnd = end !== null && outcomes.length === 0 && events.length === 0;
      const isRecorded = isEnd || (await this.record(decision, from));
      if (isTerminal(this.current.status)) return;
      if (!isRecorded) continue;
      if (accepted) this.accepted.push(accepted);
      if (end) {
        // The row follows once the work has stopped.
        this.showStatus(end.kind === 'cancelled' ? 'cancelled' : 'completed');
        this.listener.ended(end);
      }
      return;
    }
  }

  /** Records a decision, even if the work ends. False: the record was in another state. */
  private async record(decision: Decision, from = this.current): Promise<boolean> {
    const value: unknown = await CancellationScope.nonCancellable(() => record({ ...this.job, from, decision }));
    const recorded = readRecorded(value);
    if (recorded?.kind === 'moved') this.adopt(recorded.state);
    return recorded?.kind === 'recorded';
  }

  private change(next: ControlState): void {
    const before = this.current.status;
    this.current = next;
    if (next.status !== before) this.listener.changed(next.status);
  }
}
