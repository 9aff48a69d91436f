import {
  ActivityCancellationType,
  ActivityFailure,
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
import type { Activities } from '../activities/index.js';
import { mustFail, noOutcomes, type OutcomeCounts } from '../src/core/failures.js';
import { transition, type StatusCommand } from '../src/core/status.js';
import type { SearchView } from '../src/core/work.js';
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
} from './messages.js';

/** How a job ends. */
export interface Ending {
  status: 'completed' | 'failed' | 'cancelled';
  stoppedBy: string;
  error?: { code: string; message: string; retryable?: boolean };
}

/** What a run that continues as new hands on. */
export interface CarriedOver {
  status: 'running' | 'paused';
  pauses: number;
  counts: OutcomeCounts;
}

/** What only the job's kind knows: how it looks to operators, and where its search stands (null: it has none). */
export interface JobStory {
  view(): Omit<StatusView, 'status'>;
  search(): SearchView | null;
}

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
  private readonly inbox: { kind: StatusCommand; commandId: string | null }[] = [];
  private readonly accepted: string[] = [];
  private interrupted: Ending | null = null;
  private readonly scope = new CancellationScope();
  private busy = false;
  private pauses: number;
  private readonly input: JobInput;
  private readonly story: JobStory;

  constructor(
    input: JobInput,
    story: JobStory,
    resumed: CarriedOver = { status: 'running', pauses: 0, counts: noOutcomes },
  ) {
    this.input = input;
    this.story = story;
    this.status = resumed.status;
    this.pauses = resumed.pauses;
    this.counts = resumed.counts;
    const receive = (kind: StatusCommand) => (command?: { commandId?: string } | null) => {
      this.inbox.push({ kind, commandId: command?.commandId ?? null });
    };
    const pause = receive('pause');
    const resume = receive('resume');
    const cancel = receive('cancel');
    const reward = (signal?: RewardSignal | null) => {
      // A reward is in Postgres already; only the one that also stops the job is for the workflow to decide.
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

  /** What continue-as-new has to carry on. */
  carryOver(): CarriedOver {
    return { status: this.status === 'paused' ? 'paused' : 'running', pauses: this.pauses, counts: this.counts };
  }

  /** Whether every command that has come has been decided and written. */
  idle(): boolean {
    return this.inbox.length === 0 && !this.busy;
  }

  /** Resolves when the job may start new work; waits as long as it is paused. */
  async mayStart(): Promise<void> {
    await condition(() => this.idle() && this.status === 'running');
  }

  /** A job that has done its work ends as completed, unless more of its rollouts failed than it allows. */
  completed(stoppedBy: string, maxFailureRate: number): Ending {
    const fault = mustFail(this.counts, maxFailureRate, true);
    return fault ? { status: 'failed', stoppedBy: 'failed', error: fault } : { status: 'completed', stoppedBy };
  }

  /** Ends the story from within: time is up, say. */
  interrupt(ending: Ending): void {
    this.interrupted ??= ending;
    this.scope.cancel();
  }

  /**
   * Runs the job's story to its end, whatever that is, and leaves the row closed and the workflow closed the same way:
   * COMPLETED, FAILED with the reason, CANCELED. Continue-as-new passes through.
   */
  async run(story: () => Promise<Ending>): Promise<void> {
    let ending: Ending;
    try {
      ending = await this.scope.run(async () => {
        const commands = this.decideCommands();
        // The loop ends only by cancellation; its failure is the story's.
        return Promise.race([story(), commands]);
      });
    } catch (error) {
      if (error instanceof Error && error.name === 'ContinueAsNew') throw error;
      if (isCancellation(error)) await CancellationScope.nonCancellable(() => this.decideRest());
      ending = this.interrupted ?? endingOf(error);
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

  private async close(ending: Ending): Promise<void> {
    await condition(() => !this.busy);
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
      await condition(() => this.inbox.length > 0);
      this.busy = true;
      try {
        const { kind, commandId } = this.inbox.shift()!;
        await this.decide(kind, commandId);
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
    while (!this.interrupted && this.inbox.length > 0) {
      const { kind, commandId } = this.inbox.shift()!;
      await this.decide(kind, commandId);
    }
  }

  private async decide(kind: StatusCommand, commandId: string | null): Promise<void> {
    const result = transition(this.status, kind);
    const ids = commandId ? [commandId] : [];
    if (!result.ok) {
      await this.recordCommands(ids, 'refused');
      return;
    }
    switch (kind) {
      case 'pause':
      case 'resume': {
        if (result.already) return this.recordCommands(ids, 'accepted');
        this.status = kind === 'pause' ? 'paused' : 'running';
        if (kind === 'pause') this.pauses += 1;
        upsertSearchAttributes([{ key: statusAttribute, value: this.status }]);
        const type = kind === 'pause' ? 'paused' : 'resumed';
        // Written even when the story ends meanwhile: what was answered must be in the log.
        await CancellationScope.nonCancellable(() =>
          record({
            ...this.input,
            decision: {
              status: this.status === 'paused' ? 'paused' : 'running',
              commands: ids.map((id) => ({ commandId: id, outcome: 'accepted' })),
              events: [{ key: `${type}:${this.pauses}`, type, message: type, data: {} }],
            },
          }),
        );
        return;
      }
      case 'cancel':
      case 'reward_stop':
        this.accepted.push(...ids);
        this.interrupted ??=
          kind === 'cancel'
            ? { status: 'cancelled', stoppedBy: 'cancelled' }
            : { status: 'completed', stoppedBy: 'reward_stop' };
        this.scope.cancel();
        return;
      case 'reward':
        return;
    }
  }

  private async recordCommands(ids: string[], outcome: 'accepted' | 'refused'): Promise<void> {
    if (ids.length === 0) return;
    await CancellationScope.nonCancellable(() =>
      record({ ...this.input, decision: { commands: ids.map((commandId) => ({ commandId, outcome })) } }),
    );
  }
}

/** What an error that ended the story means. Nothing but a cancellation leaves a job without a reason. */
function endingOf(error: unknown): Ending {
  if (isCancellation(error)) return { status: 'cancelled', stoppedBy: 'cancelled' };
  const cause = error instanceof ActivityFailure ? (error.cause ?? error) : error;
  const code = cause instanceof ApplicationFailure && cause.type ? cause.type : 'internal';
  const message = cause instanceof Error ? cause.message : String(cause);
  const details =
    cause instanceof ApplicationFailure ? (cause.details?.[0] as { retryable?: boolean } | undefined) : undefined;
  log.info('the job fails', { code, message });
  return { status: 'failed', stoppedBy: 'failed', error: { code, message, retryable: details?.retryable ?? false } };
}
