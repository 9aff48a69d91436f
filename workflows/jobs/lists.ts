/** Search attributes and memo, by which operators find a job: as the API says it. */
import { HandlerUnfinishedPolicy, type SearchAttributeUpdatePair } from '@temporalio/common';
import {
  ActivityFailure,
  CancellationScope,
  log,
  setHandler,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { stopReasonOf, type JobOutcome } from '../../src/core/jobs/outcome.js';
import type { ShownJob } from '../../src/core/jobs/progress.js';
import { readShownJob } from '../activities.js';
import {
  bestRewardAttribute,
  nameAttribute,
  orgAttribute,
  algorithmAttribute,
  relabelSignal,
  rolloutsAttribute,
  statusAttribute,
  stopReasonAttribute,
  tagsAttribute,
  type JobInput,
  type StatusView,
} from '../messages.js';
import { ownField } from './fields.js';
import { readShown } from './results.js';

/** What the memo has beside a `ShownJob`. */
type Memo = Partial<Record<'metadata' | 'verdict' | 'costUsd', unknown>>;

/** What Temporal's lists show of a job. Handles the signal that its labels were changed. */
export class JobLists {
  /** Counts the signals: what was read before one may have old labels. */
  relabels = 0;
  private isStale = false;
  private isReading = false;
  private readonly job: JobInput;

  constructor(job: JobInput) {
    this.job = job;
    const relabel = () => {
      this.relabels += 1;
      return CancellationScope.nonCancellable(() => this.refresh());
    };
    setHandler(relabelSignal, relabel, {
      description: 'Sent by HTTP: name, tags or metadata were changed, and are read again.',
      // The end of the job reads them once more.
      unfinishedPolicy: HandlerUnfinishedPolicy.ABANDON,
    });
  }

  status(status: StatusView['status']): void {
    setAttributes([{ key: statusAttribute, value: status }]);
  }

  /** Shows what was read when there were that many `relabels`. */
  async show(shown: ShownJob, relabels: number): Promise<void> {
    if (relabels === this.relabels) list(shown);
    else await this.refresh();
  }

  end(outcome: JobOutcome, shown: ShownJob, memo: Memo): void {
    listOutcome(outcome);
    list(shown, memo);
  }

  /** Shows what Postgres has; the last read is the last shown. */
  async refresh(): Promise<void> {
    this.isStale = true;
    if (this.isReading) return;
    this.isReading = true;
    try {
      while (this.isStale) {
        this.isStale = false;
        const read: unknown = await readShownJob(this.job);
        const shown = readShown(ownField(read, 'shown'));
        if (shown) list(shown, { metadata: ownField(read, 'metadata') });
        else log.warn('the result of the read is unreadable; search attributes not refreshed');
      }
    } catch (error) {
      // A job that is gone ends by its next step.
      if (!(error instanceof ActivityFailure)) throw error;
      log.warn('search attributes not refreshed', { error });
    } finally {
      this.isReading = false;
    }
  }
}

export function listOutcome(outcome: JobOutcome): void {
  setAttributes([
    { key: statusAttribute, value: outcome.status },
    { key: stopReasonAttribute, value: stopReasonOf(outcome) },
  ]);
}

/** What a new run of the workflow lists from its start. */
export function listed() {
  const { memo, typedSearchAttributes } = workflowInfo();
  const own = [
    ...[orgAttribute, algorithmAttribute, statusAttribute, nameAttribute, tagsAttribute],
    ...[rolloutsAttribute, bestRewardAttribute],
  ].map(({ name }) => name);
  return {
    ...(memo && { memo }),
    typedSearchAttributes: typedSearchAttributes.getAll().filter(({ key }) => own.includes(key.name)),
  };
}

function list({ name, tags, rollouts, bestReward }: ShownJob, memo: Memo = {}): void {
  setAttributes([
    { key: nameAttribute, value: name },
    { key: tagsAttribute, value: tags.length > 0 ? tags : null },
    { key: rolloutsAttribute, value: rollouts },
    { key: bestRewardAttribute, value: bestReward },
  ]);
  setMemo({ name, tags, rollouts, bestReward, ...memo });
}

/** Sets those that differ: each change is an event of the history. */
function setAttributes(pairs: SearchAttributeUpdatePair[]): void {
  const { typedSearchAttributes } = workflowInfo();
  const shown = new Map(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  const changed = pairs.filter(({ key, value }) => !areEqual(shown.get(key.name), value));
  if (changed.length > 0) upsertSearchAttributes(changed);
}

function setMemo(memo: Record<string, unknown>): void {
  const shown = workflowInfo().memo ?? {};
  const changed = Object.entries(memo).filter(([key, value]) => !areEqual(shown[key], value));
  if (changed.length > 0) upsertMemo(Object.fromEntries(changed));
}

function areEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
