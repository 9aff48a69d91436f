import type { SearchAttributePair } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  ContinueAsNew,
  isCancellation,
  log,
  setHandler,
  upsertMemo,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { mustFail, noOutcomes, type OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { KeptSearch } from '../../activities/index.js';
import type { SearchView } from '../../src/core/search/protocol.js';
import { finish, record } from '../activities.js';
import {
  bestRewardAttribute,
  rolloutsAttribute,
  statusAttribute,
  statusQuery,
  stopReasonAttribute,
  type JobInput,
  type JobSummary,
  type StatusView,
} from '../messages.js';
import { closeWorkflow, outcomeOfError, storedError, type JobOutcome } from './close.js';
import { decideCommands, type PendingCommand, type SuggestionKind } from './commands.js';
import { isAtHistoryLimit, runUntilHistoryLimit, type CarriedState } from './history-limit.js';
import { CommandInbox } from './inbox.js';

/** The parts of a job's life that depend on its kind. */
export interface JobDefinition {
  /** The answer to the status query. */
  statusView(): Omit<StatusView, 'status'>;
  /** The search's state; null: the job has no search. */
  searchView(): SearchView | null;
  /** The last step of its search; absent: it has no search. */
  steps?(): number | undefined;
  /** Records the last search update before the job rests or ends. */
  recordPending(): Promise<void>;
  /** The end of the search, for an extension; undefined: the job cannot be extended. */
  kept?(): Omit<KeptSearch, 'counts'> | undefined;
  /** Continues in a new run of the kind's workflow. */
  continueAsNew(carried: CarriedState): Promise<never>;
  /** Whether the search can use a person's suggestion; absent: none. */
  takesSuggestion?(kind: SuggestionKind): boolean;
  /** The outcome of an error that does not fail the job; null: it fails the job. */
  outcomeOfError?(error: unknown): JobOutcome | null;
}

/**
 * Pause, resume, cancel and reward signals, the status query and the end of a job's workflow. Each
 * decision is recorded before the next is taken.
 */
export class JobControl {
  status: StatusView['status'] = 'running';
  /** Outcomes of all the job's rollouts, as last reported. */
  counts: OutcomeCounts = noOutcomes;
  private readonly inbox: CommandInbox;
  private prompts: string[];
  private readonly accepted: string[] = [];
  private interruption: (() => JobOutcome) | null = null;
  private readonly workflowScope = CancellationScope.current();
  private readonly workScope = new CancellationScope();
  private isDeciding = false;
  private isContinuing = false;
  /** Activities in progress beside others. */
  private working = 0;
  private pauses: number;
  private readonly input: JobInput;
  private readonly definition: JobDefinition;

  constructor(
    input: JobInput,
    definition: JobDefinition,
    carried: CarriedState = { status: 'running', pauses: 0, counts: noOutcomes, inbox: [], prompts: [] },
  ) {
    this.input = input;
    this.definition = definition;
    this.status = carried.status;
    this.pauses = carried.pauses;
    this.counts = carried.counts;
    this.inbox = new CommandInbox(carried.inbox);
    this.prompts = [...carried.prompts];
    setHandler(statusQuery, () => ({ status: this.status, ...definition.statusView() }), {
      description: 'Status, generation, best candidate, best reward and budget as the workflow sees them.',
    });
  }

  /**
   * Resolves when the job may start new work. At the history limit it rejects with ContinueAsNew,
   * so only work that `continueAsNew` hands on may be in progress.
   */
  async waitUntilRunnable(): Promise<void> {
    const isRunnable = () => this.inbox.isEmpty && !this.isDeciding && this.status === 'running';
    if (!isRunnable() || isAtHistoryLimit()) await this.definition.recordPending();
    await condition(() => isRunnable() || isAtHistoryLimit());
    if (isAtHistoryLimit()) await this.continueAsNewAtRest();
  }

  /** The ids of accepted prompts since the last call. */
  takePrompts(): string[] {
    return this.prompts.splice(0);
  }

  /** Forgets the reward signals so far. Call it before Postgres is read for rewards. */
  clearRewards(): void {
    this.inbox.hasRewards = false;
  }

  /** Resolves at a reward signal, at the history limit, or after an hour, if a signal was lost. */
  async waitForRewards(): Promise<void> {
    await condition(() => this.inbox.hasRewards || isAtHistoryLimit(), '1 hour');
  }

  /** Runs an activity that ends early at the history limit; null: cancelled without a result. */
  runUntilHistoryLimit<T>(activity: () => Promise<T>): Promise<T | null> {
    return runUntilHistoryLimit(activity, () => this.isCancelled());
  }

  /** Work beside other work: a new run waits for its result. */
  async untilRest<T>(work: Promise<T>): Promise<T> {
    this.working += 1;
    try {
      return await work;
    } finally {
      this.working -= 1;
    }
  }

  /** The outcome of finished work: completed, or failed where too many rollouts failed. */
  completed(stoppedBy: string, maxFailureRate: number): JobOutcome {
    const fault = mustFail(this.counts, maxFailureRate, true);
    return fault ? { status: 'failed', stoppedBy: 'failed', error: fault } : { status: 'completed', stoppedBy };
  }

  /** Ends the job's work. The first interruption counts; its outcome is taken once work rests. */
  interrupt(outcome: () => JobOutcome): void {
    this.interruption ??= outcome;
    this.workScope.cancel();
  }

  /** Runs the work to its end, then closes row and workflow. ContinueAsNew passes through. */
  async run(work: () => Promise<JobOutcome>): Promise<JobSummary> {
    let outcomeOf: () => JobOutcome;
    try {
      const outcome = await this.workScope.run(async () => {
        const commands = this.decideAsReceived();
        // The loop ends only by cancellation; its failure ends the work.
        return Promise.race([work(), commands]);
      });
      outcomeOf = () => outcome;
    } catch (error) {
      if (error instanceof ContinueAsNew) throw error;
      if (isCancellation(error)) {
        await CancellationScope.nonCancellable(() => this.decideRest());
        // The row follows once the work has stopped.
        if (!this.interruption) this.status = 'cancelled';
      }
      outcomeOf = this.interruption ?? (() => this.definition.outcomeOfError?.(error) ?? outcomeOfError(error));
    }
    // Ends the command loop and all other waits of the work.
    this.workScope.cancel();
    const { outcome, summary } = await CancellationScope.nonCancellable(() => this.closeRow(outcomeOf));
    await closeWorkflow(outcome);
    return summary;
  }

  /** Continues in a new run. Undecided commands go with it. */
  private async continueAsNewAtRest(): Promise<never> {
    this.isContinuing = true;
    await condition(() => !this.isDeciding && this.working === 0 && allHandlersFinished());
    // A cancellation would not reach the new run, so wait for it to end this one.
    if (this.isCancelled()) await condition(() => false);
    return this.definition.continueAsNew({
      status: this.status === 'paused' ? 'paused' : 'running',
      pauses: this.pauses,
      counts: this.counts,
      inbox: this.inbox.undecided(),
      prompts: this.prompts,
    });
  }

  /** Sets the search attributes of the progress; an event in the history, so not at every step. */
  showProgress(): void {
    upsertSearchAttributes(this.progressAttributes());
  }

  private progressAttributes(): SearchAttributePair[] {
    const { bestReward, rolloutsCompleted } = this.definition.statusView();
    return [
      { key: rolloutsAttribute, value: rolloutsCompleted },
      ...(bestReward === null ? [] : [{ key: bestRewardAttribute, value: bestReward }]),
    ];
  }

  private isCancelled(): boolean {
    return this.workflowScope.consideredCancelled || this.workScope.consideredCancelled;
  }

  private async closeRow(outcomeOf: () => JobOutcome): Promise<{ outcome: JobOutcome; summary: JobSummary }> {
    await condition(() => !this.isDeciding);
    // `finish` records the search's state too, so a failure here must not hide the job's outcome.
    await this.definition
      .recordPending()
      .catch((error: unknown) => log.error('last search update not recorded', { error }));
    const outcome = outcomeOf();
    this.status = outcome.status;
    upsertSearchAttributes([
      { key: statusAttribute, value: outcome.status },
      { key: stopReasonAttribute, value: outcome.stoppedBy },
      ...this.progressAttributes(),
    ]);
    const kept = this.definition.kept?.();
    const steps = this.definition.steps?.();
    const search = this.definition.searchView();
    const { name, costUsd } = await finish({
      ...this.input,
      ...(steps !== undefined && { steps }),
      ...(kept && { kept: { ...kept, counts: this.counts } }),
      ending: { ...outcome, error: storedError(outcome) },
      search,
      accepted: this.accepted,
    });
    const { bestReward, rolloutsCompleted: rollouts } = this.definition.statusView();
    const summary = { name, verdict: search?.verdict?.verdict ?? null, bestReward, rollouts, costUsd };
    upsertMemo({ ...summary });
    return { outcome, summary };
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
    const takes = (kind: SuggestionKind) => this.definition.takesSuggestion?.(kind) ?? false;
    const decided = decideCommands({ status, pauses }, commands, takes);
    const { next, outcomes, events, prompts, jobOutcome, accepted } = decided;
    ({ status: this.status, pauses: this.pauses } = next);
    this.prompts.push(...prompts);
    if (accepted) this.accepted.push(accepted);
    if (this.status !== before) upsertSearchAttributes([{ key: statusAttribute, value: this.status }]);
    if (outcomes.length > 0 || events.length > 0) {
      const recorded = this.status === 'paused' ? 'paused' : 'running';
      // Recorded even if the work ends meanwhile: an answered command must be in the log.
      await CancellationScope.nonCancellable(() =>
        record({
          ...this.input,
          decision: {
            commands: outcomes,
            ...(prompts.length > 0 && { hasPrompt: true }),
            ...(events.length > 0 && { status: recorded, events }),
          },
        }),
      );
    }
    if (!jobOutcome) return;
    // The row follows once the work has stopped.
    this.status = jobOutcome.status;
    this.interrupt(() => jobOutcome);
  }
}
