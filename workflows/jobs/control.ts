import {
  ActivityCancellationType,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  log,
  proxyActivities,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { mustFail, noOutcomes, type OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { StatusCommand } from '../../src/core/jobs/status.js';
import type { SearchView } from '../../src/core/search/protocol.js';
import { decideCommands, type PendingCommand } from './commands.js';
import { outcomeOfError, type JobOutcome } from './close.js';
import { isAtHistoryLimit, runUntilHistoryLimit, type CarriedState } from './history-limit.js';
import {
  cancelSignal,
  pauseSignal,
  resumeSignal,
  rewardSignal,
  statusAttribute,
  statusQuery,
  type Command,
  type JobInput,
  type RewardSignal,
  type StatusView,
} from '../messages.js';

/**
 * What only the job's kind knows: how it looks to operators, where its search stands (null: it has none), how to write down
 * what it has decided before the job rests or ends, how to begin a new run that goes on from here, and which errors end it
 * otherwise than as failed (null: not this one).
 */
export interface JobDefinition {
  view(): Omit<StatusView, 'status'>;
  search(): SearchView | null;
  publish(): Promise<void>;
  continueAsNew(control: CarriedState): Promise<never>;
  endingOf?(error: unknown): JobOutcome | null;
}

/** At most so many commands are decided at once, which keeps one record small. */
const commandsAtOnce = 100;

const { record, finish, requestCancellation } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * What every job's workflow shares: pause, resume, cancel and reward as signals, status as a query, and one way to end.
 * The workflow decides by the transition table; each decision is written, with its event and the command's outcome, before
 * the next is taken.
 */
export class JobControl {
  status: StatusView['status'] = 'running';
  /** Outcomes of all the job's rollouts, as the latest slice found them. */
  counts: OutcomeCounts = noOutcomes;
  /** A signal has told of rewards since this was last set to false. */
  hasRewards = false;
  private readonly inbox: PendingCommand[];
  private readonly accepted: string[] = [];
  private interrupted: JobOutcome | null = null;
  private readonly root = CancellationScope.current();
  private readonly scope = new CancellationScope();
  private busy = false;
  private leaving = false;
  private pauses: number;
  private readonly input: JobInput;
  private readonly story: JobDefinition;

  constructor(
    input: JobInput,
    story: JobDefinition,
    resumed: CarriedState = { status: 'running', pauses: 0, counts: noOutcomes, inbox: [] },
  ) {
    this.input = input;
    this.story = story;
    this.status = resumed.status;
    this.pauses = resumed.pauses;
    this.counts = resumed.counts;
    this.inbox = [...resumed.inbox];
    const receive = (kind: StatusCommand) => (command?: { commandId?: string } | null) => {
      this.inbox.push({ kind, commandId: command?.commandId ?? null });
    };
    const pause = receive('pause');
    const resume = receive('resume');
    const cancel = receive('cancel');
    const reward = (signal?: RewardSignal | null) => {
      // A reward is in Postgres already; only the one that also stops the job is for the workflow to decide.
      this.hasRewards = true;
      if (signal?.stop) receive('reward_stop')(signal);
    };
    // What came before the first workflow task comes by here, in the order in which it was sent: the handlers below would
    // take all pauses first, then all resumes.
    const early = { [pauseSignal.name]: pause, [resumeSignal.name]: resume, [cancelSignal.name]: cancel };
    setDefaultSignalHandler((name, signal) =>
      name === rewardSignal.name ? reward(signal as RewardSignal) : early[name]?.(signal as Command),
    );
    setHandler(pauseSignal, pause, { description: 'Start no new rollout; those in flight finish.' });
    setHandler(resumeSignal, resume, { description: 'Go on after a pause.' });
    setHandler(cancelSignal, cancel, { description: 'End now, keep the best so far.' });
    setHandler(rewardSignal, reward, {
      description: 'A reward has come; with {"stop": true} the job completes with its best so far.',
    });
    setHandler(statusQuery, () => ({ status: this.status, ...story.view() }), {
      description: 'Status, generation, best candidate and reward, budget, as the workflow sees them.',
    });
  }

  /**
   * Resolves when the job may start new work; waits as long as it is paused. Where the run's history has grown long, the job
   * goes on in a new run instead, and this rejects with what Temporal needs for that: nothing of the story may be under way
   * here but what `continueAsNew` hands on.
   */
  async waitUntilRunnable(): Promise<void> {
    const free = () => this.inbox.length === 0 && !this.busy && this.status === 'running';
    if (!free() || isAtHistoryLimit()) await this.story.publish();
    await condition(() => free() || isAtHistoryLimit());
    if (isAtHistoryLimit()) await this.continueAsNewAtRest();
  }

  /**
   * Resolves when a signal tells of rewards, or the run's history has grown long; and now and then without: a Temporal that was
   * restored from an earlier moment may have lost the signal, and nobody would repeat it.
   */
  async rewards(): Promise<void> {
    await condition(() => this.hasRewards || isAtHistoryLimit(), '1 hour');
  }

  /** Has an activity run that ends early where the run's history has grown long; null: it came to nothing. */
  runUntilHistoryLimit<T>(activity: () => Promise<T>): Promise<T | null> {
    return runUntilHistoryLimit(activity, () => this.isCancelled());
  }

  /** Goes on in a new run. Commands that are not decided yet go with it. */
  private async continueAsNewAtRest(): Promise<never> {
    this.leaving = true;
    await condition(() => !this.busy && allHandlersFinished());
    // A cancellation that came in this very moment would not go with it; it is left to end the story.
    if (this.isCancelled()) await condition(() => false);
    return this.story.continueAsNew({
      status: this.status === 'paused' ? 'paused' : 'running',
      pauses: this.pauses,
      counts: this.counts,
      inbox: this.inbox,
    });
  }

  private isCancelled(): boolean {
    return this.root.consideredCancelled || this.scope.consideredCancelled;
  }

  /** A job that has done its work ends as completed, unless more of its rollouts failed than it allows. */
  completed(stoppedBy: string, maxFailureRate: number): JobOutcome {
    const fault = mustFail(this.counts, maxFailureRate, true);
    return fault ? { status: 'failed', stoppedBy: 'failed', error: fault } : { status: 'completed', stoppedBy };
  }

  /** Ends the story from within: time is up, say. */
  interrupt(ending: JobOutcome): void {
    this.interrupted ??= ending;
    this.scope.cancel();
  }

  /**
   * Runs the job's story to its end, whatever that is, and leaves the row closed and the workflow closed the same way:
   * COMPLETED, FAILED with the reason, CANCELED. Continue-as-new passes through.
   */
  async run(story: () => Promise<JobOutcome>): Promise<void> {
    let ending: JobOutcome;
    try {
      ending = await this.scope.run(async () => {
        const commands = this.decideCommands();
        // The loop ends only by cancellation; its failure is the story's.
        return Promise.race([story(), commands]);
      });
    } catch (error) {
      if (error instanceof Error && error.name === 'ContinueAsNew') throw error;
      if (isCancellation(error)) await CancellationScope.nonCancellable(() => this.decideRest());
      ending = this.interrupted ?? this.story.endingOf?.(error) ?? outcomeOfError(error);
    }
    // Ends the loop over commands, and whatever else of the story still waits.
    this.scope.cancel();
    await CancellationScope.nonCancellable(() => this.close(ending));
    if (ending.status === 'failed') {
      throw ApplicationFailure.nonRetryable(ending.error?.message ?? ending.stoppedBy, ending.error?.code ?? 'failed');
    }
    if (ending.status === 'cancelled') {
      if (!CancellationScope.current().consideredCancelled) {
        // By a signal alone: Temporal closes a workflow as CANCELED only when it was asked to cancel it.
        await requestCancellation();
      }
      await CancellationScope.current().cancelRequested;
    }
  }

  private async close(ending: JobOutcome): Promise<void> {
    await condition(() => !this.busy);
    // What the search decided is in `finish` as well: that it cannot be written apart must not hide how the job ends.
    await this.story.publish().catch((error: unknown) => log.error('the last decisions are not recorded', { error }));
    this.status = ending.status;
    upsertSearchAttributes([{ key: statusAttribute, value: ending.status }]);
    await finish({
      ...this.input,
      ending: { ...ending, error: ending.error ? { retryable: false, ...ending.error } : null },
      search: this.story.search(),
      accepted: this.accepted,
    });
  }

  private async decideCommands(): Promise<never> {
    for (;;) {
      await condition(() => this.inbox.length > 0 && !this.leaving);
      this.busy = true;
      try {
        await this.decide(this.inbox.splice(0, commandsAtOnce));
      } finally {
        this.busy = false;
      }
    }
  }

  /**
   * Temporal's own cancel overtakes the signals that came before it and wait for their turn: one of them may have ended
   * the job by then.
   */
  private async decideRest(): Promise<void> {
    await condition(() => !this.busy);
    while (!this.interrupted && this.inbox.length > 0) await this.decide(this.inbox.splice(0, commandsAtOnce));
  }

  /** Decides commands and writes what became of them at once; one that ends the job ends this too. */
  private async decide(commands: PendingCommand[]): Promise<void> {
    const before = this.status;
    const { standing, outcomes, events, ending, accepted } = decideCommands(
      { status: this.status, pauses: this.pauses },
      commands,
    );
    ({ status: this.status, pauses: this.pauses } = standing);
    if (accepted) this.accepted.push(accepted);
    if (this.status !== before) upsertSearchAttributes([{ key: statusAttribute, value: this.status }]);
    if (outcomes.length > 0 || events.length > 0) {
      const status = this.status === 'paused' ? 'paused' : 'running';
      // Written even when the story ends meanwhile: what was answered must be in the log.
      await CancellationScope.nonCancellable(() =>
        record({
          ...this.input,
          decision: { commands: outcomes, ...(events.length > 0 && { status, events }) },
        }),
      );
    }
    if (ending) {
      this.interrupted ??= ending;
      this.scope.cancel();
    }
  }
}
