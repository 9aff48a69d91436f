/**
 * The runner of a job's rollouts, in one activity at a time, under the job's lease.
 *
 * A rollout passes from left to right:
 *
 *     queued ──▶ claimed ──▶ in flight ──▶ ended ──▶ recorded
 *     (row)      prefetch     InFlight…    exchange   (row)
 *
 * An exchange with Postgres (RolloutExchange) records what has ended and claims what is queued, in
 * one transaction that renews the lease; GroupCommit sends those of many jobs together. Nothing
 * starts unless the last exchange read `run` and there was no news of the job's control since.
 *
 * The runner is in one of these states:
 *
 * - running: starts claimed rollouts where a slot is free, and exchanges once one has ended; with
 *   all slots busy it waits 5 ms for more to end. No end in a second: idle. A pause, a worker that
 *   shuts down, a request of the workflow, a refusal, a standstill or its share of time: resting.
 *   A stopped job, a lost lease, a fault: stopped.
 * - idle: exchanges once a second, which renews the lease, and returns what it claimed ahead.
 * - resting: starts nothing, gives its claims back, and records rollouts in flight as they end. If
 *   a rollout stood still, the run rejects once the others are recorded.
 * - stopped: aborts the rollouts in flight. After a fault it records those that had ended before.
 * - over: nothing is claimed, in flight or unrecorded, and nothing can be claimed. The exchange
 *   that finds it so concludes in its transaction, where the next round of a search begins.
 */
import { setMaxListeners } from 'node:events';
import { costExhausted, mustFail, spendQuotaExceeded, type OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { JobFault } from '../../src/core/jobs/fault.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import type { TracedRun } from '../../src/core/jobs/trace.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { Claim, SyncResult } from '../../src/rollouts/store/exchange.js';
import type { ActivityDeps } from '../deps.js';
import { costSpentMessage } from '../call-meter.js';
import type { Concurrency } from './concurrency.js';
import { RolloutExchange, type ExchangeResult, type RunEnd } from './exchange.js';
import type { RunnableJob } from './execute.js';
import type { GroupCommit } from './group-commit.js';
import { InFlightRollouts } from './in-flight.js';
import type { Interruptions } from './interruptions.js';
import { Latch } from './latch.js';
import type { Watch } from '../watch/watch.js';

const idleMs = 1_000;
/** A runner yields to other jobs after this long, or this many rollouts if that is longer. */
const yieldAfter = { ms: 30_000, rollouts: 10 };
/** Wait of the first outcome for others if no slot is idle: larger exchanges cost less. */
const coalesceMs = 5;
/** The end of a run whose model calls are refused. */
const faultsOfSpending: Record<NonNullable<SyncResult['spent']>, JobFault> = {
  [costExhausted]: { code: costExhausted, message: costSpentMessage, retryable: false },
  [spendQuotaExceeded]: {
    code: spendQuotaExceeded,
    message: 'The quota spend_usd_per_day is used up: raise it, or go on after the next midnight (UTC).',
    retryable: true,
  },
};

/** The rows of a job that do not change while it runs. */
export interface RunnableSpec {
  spec: JobSpec;
  apiKey: string | null;
  /** null: the job is not traced. */
  trace: TracedRun | null;
}

/** The activity that runs rollouts, and the lease that it holds. */
export interface RunnerContext {
  job: JobRef;
  runnable: RunnableSpec;
  concurrency: Concurrency;
  /** The lease's. */
  token: number;
  interruptions: Interruptions;
  watch: Watch;
}

type RunnerState = 'running' | 'idle' | 'resting';

/** Runs a job's open rollouts, at most `max_concurrent` at once. */
export class Runner<Conclusion> {
  private readonly aborter = new AbortController();
  private readonly work = new Latch();
  private readonly urgency = new Latch();
  private readonly inFlight: InFlightRollouts;
  private readonly exchange: RolloutExchange<Conclusion>;
  private readonly runnable: RunnableJob;
  private readonly interruptions: Interruptions;

  constructor(
    deps: ActivityDeps,
    groupCommit: GroupCommit,
    { job, runnable, concurrency, token, interruptions, watch }: RunnerContext & { runnable: RunnableJob },
    end: RunEnd<unknown, Conclusion>,
  ) {
    this.runnable = runnable;
    this.interruptions = interruptions;
    const { signal } = this.aborter;
    // Every rollout in flight listens to it.
    setMaxListeners(0, signal);
    this.inFlight = new InFlightRollouts({
      deps,
      job,
      runnable,
      signal,
      concurrency,
      watch,
      counts: () => this.counts,
      onOutcome: (outcome) => this.exchange.add(outcome),
      onFreeSlot: () => {
        this.startClaimed();
        this.work.set();
        if (this.exchange.isUrgent) this.urgency.set();
      },
    });
    const { inFlight } = this;
    this.exchange = new RolloutExchange({
      deps,
      groupCommit,
      job,
      runnable,
      token,
      concurrency,
      inFlight,
      signal,
      watch,
      end,
      isStopped: () => this.isStopped(),
      mustFail: (found) => this.faultOf(found) !== null || this.inFlight.standstill !== null,
    });
  }

  get counts(): OutcomeCounts {
    return this.exchange.counts;
  }

  /** Makes the first exchange in the transaction that took the lease. */
  exchangeIn(tx: Tx): Promise<ExchangeResult<Conclusion>> {
    return this.exchange.runIn(tx, !this.isStopped());
  }

  /** See `RolloutExchange.startWith`. */
  startWith(claims: Claim[], found: SyncResult): ExchangeResult<Conclusion> {
    return this.exchange.startWith(claims, found);
  }

  /**
   * Resolves when nothing is in flight: with the conclusion, with a fault that must fail the job,
   * or with neither if it was interrupted. Rejects where a rollout stood still, once the others
   * are recorded.
   */
  async run(first: ExchangeResult<Conclusion>): Promise<{ conclusion?: Conclusion; fault?: JobFault }> {
    const stopListening = this.listen();
    const { exchange } = this;
    const { prefetch } = exchange;
    let state: RunnerState = 'running';
    let yieldFrom = Date.now();
    try {
      for (let made: ExchangeResult<Conclusion> | null = first; ; made = null) {
        if (this.mustRest(yieldFrom)) state = 'resting';
        if (state !== 'running') prefetch.release();
        await this.coalesce();
        const done = made ?? (await exchange.run(state !== 'resting'));
        if (!done.held || done.control === 'stop') {
          await this.stop('the job was stopped');
          return {};
        }
        const fault = this.faultOf(done);
        if (fault) {
          await this.stop(fault.message);
          // Record what had ended by then.
          await exchange.run(false);
          return { fault };
        }
        const { standstill } = this.inFlight;
        if (standstill && exchange.isIdle) throw standstill;
        if (done.conclusion !== undefined) return { conclusion: done.conclusion };
        // Also where nothing may start any more: then they are returned.
        prefetch.add(done.claims);
        if (done.control === 'run' && state !== 'resting') this.startClaimed();
        else prefetch.release();
        if (prefetch.hasReleased) this.work.set();
        // A runner that only waits for rewards blocks no other job.
        if (exchange.isIdle) yieldFrom = Date.now();
        state = (await this.work.wait(idleMs)) ? 'running' : 'idle';
      }
    } finally {
      stopListening();
      this.aborter.abort(new Error('the runner has ended'));
    }
  }

  private listen(): () => void {
    const { obsolete } = this.interruptions;
    const onStop = () => {
      if (obsolete.aborted) this.aborter.abort(obsolete.reason);
      this.work.set();
    };
    const onNews = () => {
      this.exchange.prefetch.suspend();
      this.work.set();
    };
    if (obsolete.aborted) onStop();
    return this.interruptions.listen({ onNews, onStop });
  }

  private async stop(reason: string): Promise<void> {
    this.aborter.abort(new Error(reason));
    await this.inFlight.settled();
  }

  private faultOf({ spent, counts }: SyncResult): JobFault | null {
    if (this.inFlight.refusal) return this.inFlight.refusal;
    return spent ? faultsOfSpending[spent] : mustFail(counts, this.runnable.spec.maxFailureRate, false);
  }

  private mustRest(runningFrom: number): boolean {
    const longestMs = Math.max(yieldAfter.ms, yieldAfter.rollouts * (this.inFlight.meanLatencyMs ?? 0));
    return this.isStopped() || this.inFlight.isRefusing || Date.now() - runningFrom > longestMs;
  }

  private isStopped(): boolean {
    return this.interruptions.isStopped || this.aborter.signal.aborted;
  }

  private startClaimed(): void {
    while (this.exchange.freeSlots > 0 && !this.isStopped() && !this.inFlight.isRefusing) {
      const claim = this.exchange.prefetch.next();
      if (!claim) return;
      this.inFlight.start(claim);
    }
  }

  /** Waits briefly for more outcomes where the exchange is not urgent. */
  private async coalesce(): Promise<void> {
    if (!this.exchange.hasOutcomes || this.exchange.isUrgent) return;
    this.urgency.clear();
    await this.urgency.wait(coalesceMs);
  }
}
