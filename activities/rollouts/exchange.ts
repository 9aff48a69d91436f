import { setTimeout as delay } from 'node:timers/promises';
import { noOutcomes, type OutcomeCounts } from '../../src/core/jobs/failures.js';
import { budgetOf } from '../../src/core/jobs/spec.js';
import { databasePatienceMs } from '../../src/platform/db/patience.js';
import { isTransient } from '../../src/platform/db/postgres-errors.js';
import type { Tx } from '../../src/platform/db/db.js';
import { JobGoneError, type JobRef } from '../../src/jobs/store/events.js';
import {
  syncRollouts,
  type Claim,
  type JobExchange,
  type RunnerEnd,
  type SyncResult,
  type WantedSlots,
} from '../../src/rollouts/store/exchange.js';
import type { Outcome } from '../../src/rollouts/store/outcomes.js';
import type { ActivityDeps } from '../deps.js';
import type { Concurrency } from './concurrency.js';
import type { RunnableJob } from './execute.js';
import type { GroupCommit } from './group-commit.js';
import type { InFlightRollouts } from './in-flight.js';
import { ClaimPrefetch } from './prefetch.js';
import type { Watch } from '../watch/watch.js';

/** Each exchange renews the lease; after a kill, the job's next runner waits this long. */
export const leaseSeconds = 10;
/** A runner that only waits for rewards ends after this long. */
const longestMs = 60 * 60_000;
/** One that ran rollouts ends sooner, so that its job says what it waits for. */
const shownAfterMs = 10_000;

/** `conclusion`: set by the last exchange. */
export type ExchangeResult<Conclusion> = SyncResult & { conclusion?: Conclusion };

/** How a run of rollouts ends, in the transaction of its last exchange. */
export interface RunEnd<Read, Conclusion> {
  /** Reads behind the outcomes what the conclusion needs. */
  read(tx: Tx): Promise<Read>;
  /** Whether every rollout has its outcome. */
  isOver(read: Read): boolean;
  /** Not called if the job must fail. */
  conclude(tx: Tx, read: Read, found: SyncResult): Promise<Conclusion>;
}

/** The runner's state that an exchange depends on. */
export interface ExchangeContext<Conclusion> {
  deps: ActivityDeps;
  groupCommit: GroupCommit;
  job: JobRef;
  runnable: RunnableJob;
  /** The lease's token. */
  token: number;
  concurrency: Concurrency;
  inFlight: InFlightRollouts;
  signal: AbortSignal;
  watch: Watch;
  isStopped(): boolean;
  /** Whether an exchange shows that the job must fail. */
  mustFail(found: SyncResult): boolean;
  end: RunEnd<unknown, Conclusion>;
}

/** Each exchange with Postgres records a runner's outcomes and claims rollouts for it. */
export class RolloutExchange<Conclusion> {
  readonly prefetch = new ClaimPrefetch();
  counts: OutcomeCounts = noOutcomes;
  /** Outcomes that are not recorded yet. */
  private unrecorded: Outcome[] = [];
  /** The last exchange returned fewer claims than wanted. */
  private queueEmpty = false;
  /** Rollouts that wait for their reward; each keeps its slot. */
  private awaiting = 0;
  /** Whether it has claimed nothing and only waits; null: before its first exchange. */
  private onlyWaits: boolean | null = null;
  private readonly startedAt = Date.now();
  private readonly context: ExchangeContext<Conclusion>;

  constructor(context: ExchangeContext<Conclusion>) {
    this.context = context;
  }

  add(outcome: Outcome): void {
    this.unrecorded.push(outcome);
    this.prefetch.ended(outcome.rolloutId);
    if (outcome.status === 'awaiting_reward') this.awaiting += 1;
  }

  get hasOutcomes(): boolean {
    return this.unrecorded.length > 0;
  }

  get freeSlots(): number {
    const { concurrency, inFlight } = this.context;
    return concurrency.limit - inFlight.size - this.awaiting;
  }

  /** Whether a free slot, or the runner's end, waits for the next exchange. */
  get isUrgent(): boolean {
    return this.context.inFlight.size === 0 || (!this.queueEmpty && this.prefetch.size === 0);
  }

  /** Whether the runner holds no claim and no unrecorded outcome. */
  get isIdle(): boolean {
    const { inFlight } = this.context;
    return inFlight.size + this.unrecorded.length + this.prefetch.size === 0 && !this.prefetch.hasReleased;
  }

  /** Exchanges in a transaction that the caller commits. */
  async runIn(tx: Tx, mayStart: boolean): Promise<ExchangeResult<Conclusion>> {
    const { jobId, orgId } = this.context.job;
    const queued = this.queued(mayStart);
    const [found] = await syncRollouts(tx, orgId, [queued.take()], 'wait');
    if (!found) throw new JobGoneError(`Job "${jobId}" is not in the database.`);
    return queued.settle(found);
  }

  /** Exchanges outcomes for claims; keeps them and retries while Postgres does not answer. */
  async run(mayStart: boolean): Promise<ExchangeResult<Conclusion>> {
    const { deps, job, groupCommit, signal } = this.context;
    const deadline = performance.now() + databasePatienceMs;
    const queued = this.queued(mayStart);
    for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 2_000)) {
      try {
        return queued.settle(await groupCommit.run(queued));
      } catch (error) {
        if (performance.now() > deadline || signal.aborted || !isTransient(error)) throw error;
        deps.log.warn({ err: error, job_id: job.jobId }, 'outcomes not recorded; retrying');
        await delay(waitMs);
      }
    }
  }

  /** Claims that were made with the rollouts, while nothing else of the job was open. */
  startWith(claims: Claim[], { counts, control }: SyncResult): ExchangeResult<Conclusion> {
    const { confirm } = this.prefetch.report(performance.now());
    const found: SyncResult = { held: true, control, claims, awaiting: 0, counts, spent: null };
    this.note(found, this.wantedSlots());
    confirm(control, 0);
    return found;
  }

  /** What it exchanges is decided when the transaction begins, and stays so in a retry. */
  private queued(mayStart: boolean) {
    const { job, runnable, token, concurrency } = this.context;
    const { spec } = runnable;
    const queuedAt = performance.now();
    const taken = lazily(() => {
      const { report, confirm } = this.prefetch.report(queuedAt);
      const outcomes = this.unrecorded;
      this.unrecorded = [];
      return { completed: { outcomes, ...report }, limit: concurrency.takeChange(), confirm };
    });
    let wanted: WantedSlots = { slots: 0, ahead: 0 };
    let ended: { conclusion?: Conclusion } = {};
    const readEnd = (tx: Tx) => {
      // An earlier attempt was rolled back, with its conclusion.
      ended = {};
      return this.readEnd(tx, (conclusion) => (ended = { conclusion }));
    };
    return {
      jobId: job.jobId,
      take: (): JobExchange => {
        const { completed, limit } = taken();
        if (mayStart) wanted = this.wantedSlots();
        return {
          jobId: job.jobId,
          token,
          leaseSeconds,
          completed,
          wanted,
          limit,
          rolloutSeconds: spec.rolloutTimeoutS,
          maxFailureRate: spec.maxFailureRate,
          hasCostBudget: budgetOf(spec).maxCostUsd !== null,
          readEnd: this.isIdle ? readEnd : null,
        };
      },
      settle: (found: SyncResult): ExchangeResult<Conclusion> => {
        const { completed, confirm } = taken();
        const { length } = completed.outcomes;
        this.note(found, wanted);
        confirm(found.control, length);
        const { watch } = this.context;
        if (length > 0) watch.recorded(`${length} outcomes`);
        else watch.line.moved();
        return { ...found, ...ended };
      },
    };
  }

  private note({ claims, counts, awaiting }: SyncResult, wanted: WantedSlots): void {
    this.queueEmpty = claims.length < wanted.slots + wanted.ahead;
    this.counts = counts;
    this.onlyWaits = claims.length === 0 && (this.onlyWaits ?? awaiting > 0);
    this.awaiting = awaiting + this.unrecorded.filter(({ status }) => status === 'awaiting_reward').length;
  }

  private async readEnd(tx: Tx, onEnd: (conclusion: Conclusion) => void): Promise<RunnerEnd> {
    const { end, mustFail } = this.context;
    const read = await end.read(tx);
    return {
      isOver: end.isOver(read),
      conclude: async (found) => {
        if (this.isLast(found) && !mustFail(found)) onEnd(await end.conclude(tx, read, found));
      },
    };
  }

  private wantedSlots(): WantedSlots {
    const { concurrency, inFlight } = this.context;
    const free = this.freeSlots - this.prefetch.size;
    const target = this.prefetch.target(concurrency.limit, inFlight.meanLatencyMs);
    // The exchange itself subtracts the rollouts that wait for a reward.
    return { slots: Math.max(0, free + this.awaiting), ahead: Math.max(0, target + Math.min(0, free)) };
  }

  /** Whether an exchange left nothing to do and nothing to wait for. */
  private isLast(found: SyncResult): boolean {
    if (!found.held || found.control === 'stop' || found.claims.length > 0 || !this.isIdle) return false;
    const waits = !this.context.isStopped() && found.control === 'run' && found.awaiting > 0;
    return !waits || Date.now() - this.startedAt > (this.onlyWaits ? longestMs : shownAfterMs);
  }
}

function lazily<T>(create: () => T): () => T {
  let created: { value: T } | undefined;
  return () => (created ??= { value: create() }).value;
}
