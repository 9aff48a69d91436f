import { addEmpty } from '../../core/answers/empty-answers.js';
import { normalizeReward, sum } from '../../core/math/rewards.js';
import {
  costExhausted,
  countOutcome,
  exceedsRate,
  spendQuotaExceeded,
  type OutcomeCounts,
} from '../../core/jobs/failures.js';
import type { NewEvent } from '../../core/events/event.js';
import type { Tx } from '../../platform/db/db.js';
import { recordLimit, type LimitChange } from '../../jobs/store/concurrency.js';
import type { LockedControl } from '../../jobs/store/events.js';
import type { Claim, Renewal } from './claims.js';
import { countsIn } from './outcome-counts.js';
import { isFinished, outcomeEvents, type JobOutcome, type Outcome, type WrittenRow } from './outcomes.js';
import type { WrittenOutcome, WrittenRollout } from './outcomes.js';

/** A runner's report. */
export interface CompletedRollouts {
  outcomes: Outcome[];
  /** Prefetched rollouts that have started. */
  started: string[];
  /** Prefetched rollouts that are returned. */
  returned: string[];
}

/** Number of rollouts to start now (less those that await a reward) and to prefetch. */
export interface WantedSlots {
  slots: number;
  ahead: number;
}

/** How an exchange ends its runner, if it leaves nothing to run. */
export interface RunnerEnd {
  /** Every rollout has its outcome: nothing is claimed. */
  isOver: boolean;
  /** Called once nothing more is claimed; its statements belong to the exchange. */
  conclude(found: SyncResult): Promise<void>;
}

/** A runner, its report and its wish. */
export interface JobExchange {
  jobId: string;
  /** The lease's token. */
  token: number;
  leaseSeconds: number;
  rolloutSeconds: number;
  maxFailureRate: number;
  hasCostBudget: boolean;
  completed: CompletedRollouts;
  wanted: WantedSlots;
  /** A change of the limit of rollouts in flight; null: none. */
  limit: LimitChange | null;
  /** Reads, behind the outcomes, what the runner's end needs; null: it goes on. */
  readEnd: ((tx: Tx) => Promise<RunnerEnd>) | null;
}

/** `held` false: another runner has the job; nothing was written and nothing may be started. */
export interface SyncResult {
  held: boolean;
  control: LockedControl['control'];
  claims: Claim[];
  awaiting: number;
  /** Counts over all the job's rollouts. */
  counts: OutcomeCounts;
  /** Why a model call was refused: nothing was claimed, and refused rollouts have no outcome. */
  spent: typeof costExhausted | typeof spendQuotaExceeded | null;
}

/** A job of an exchange, under the lock of its control row. */
export class JobInExchange {
  readonly jobId: string;
  readonly isHeld: boolean;
  private counts: OutcomeCounts;
  private awaiting: number;
  private readonly finished: WrittenRollout[] = [];
  private succeeded: WrittenOutcome[] = [];
  private end: RunnerEnd | null = null;
  private readonly exchange: JobExchange;
  private readonly row: LockedControl;
  /** The rollouts with a refused model call; null: none was refused. */
  private readonly refused: ReadonlySet<string> | null;

  constructor(exchange: JobExchange, row: LockedControl, refused: ReadonlySet<string> | null) {
    this.jobId = exchange.jobId;
    this.exchange = exchange;
    this.row = row;
    this.refused = refused;
    // The end of a job takes a new token, so a held job is open.
    this.isHeld = row.lease_token === exchange.token;
    this.awaiting = this.isHeld ? row.awaiting : 0;
    this.counts = countsIn(row);
  }

  get outcomes(): JobOutcome[] {
    const { jobId, refused, exchange } = this;
    const { rolloutSeconds, completed } = exchange;
    const counted = completed.outcomes.filter(({ rolloutId }) => !refused?.has(rolloutId));
    return counted.map((outcome) => ({ ...outcome, jobId, rolloutSeconds }));
  }

  get hasOverdue(): boolean {
    return this.row.overdue > 0;
  }

  get failsTooOften(): boolean {
    return exceedsRate(this.counts, this.exchange.maxFailureRate);
  }

  addWritten(rows: readonly WrittenRow[]): void {
    const finished = rows.filter(isFinished).sort((a, b) => a.idx - b.idx);
    this.succeeded = finished.filter(({ status }) => status === 'succeeded');
    this.awaiting += rows.length - finished.length;
    this.count(finished);
  }

  addExpired(rows: readonly WrittenRollout[]): void {
    this.awaiting -= rows.length;
    this.count(rows);
  }

  async readEnd(tx: Tx): Promise<void> {
    this.end = (await this.exchange.readEnd?.(tx)) ?? null;
  }

  countDistinct(distinct: OutcomeCounts['distinct']): void {
    if (distinct) this.counts = { ...this.counts, distinct };
  }

  get events(): NewEvent[] {
    return outcomeEvents(this.row, this.finished);
  }

  /** Whether it claims rollouts, if there are any. */
  get mayClaim(): boolean {
    const { now, ahead } = this.wanted;
    return now + ahead > 0;
  }

  /** Whether no statement follows its claims. */
  get endsWithClaims(): boolean {
    return !this.end && !this.exchange.limit;
  }

  private get wanted(): { now: number; ahead: number } {
    const { slots, ahead } = this.exchange.wanted;
    if (this.row.control !== 'run' || this.refused || this.end?.isOver) return { now: 0, ahead: 0 };
    return { now: Math.max(0, slots - this.awaiting), ahead };
  }

  get renewal(): Renewal {
    const { jobId, counts, succeeded, exchange } = this;
    const { token, leaseSeconds, completed } = exchange;
    const { started, returned } = completed;
    const rewards = succeeded.map(({ reward }) => reward!);
    return {
      jobId,
      token,
      leaseSeconds,
      counts,
      started,
      returned,
      low: rewards.length > 0 ? Math.min(...rewards) : null,
      high: rewards.length > 0 ? Math.max(...rewards) : null,
      rewardSum: sum(rewards.map(normalizeReward)),
      withFeedback: succeeded.filter(({ hasFeedback }) => hasFeedback).length,
      emptyAnswers: addEmpty(
        this.row.empty_answers,
        succeeded.map(({ empty }) => empty),
      ),
      ...this.wanted,
    };
  }

  async recordLimit(tx: Tx, orgId: string): Promise<void> {
    const { jobId, exchange } = this;
    if (exchange.limit) await recordLimit(tx, { orgId, jobId }, exchange.limit);
  }

  /** Ends the runner, unless it has claimed rollouts. */
  async conclude(claims: readonly Claim[]): Promise<void> {
    if (claims.length === 0) await this.end?.conclude(this.result([]));
  }

  result(claims: Claim[]): SyncResult {
    const { isHeld: held, awaiting, counts, row, refused } = this;
    const reason = row.quota_refused ? spendQuotaExceeded : costExhausted;
    return { held, control: row.control, claims, awaiting, counts, spent: refused && reason };
  }

  private count(rows: readonly WrittenRollout[]): void {
    this.finished.push(...rows);
    for (const { status, error } of rows) {
      const outcome = status === 'succeeded' ? status : error?.connect ? 'connect_failed' : 'failed';
      this.counts = countOutcome(this.counts, outcome);
    }
  }
}
