import { Context } from '@temporalio/activity';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { costExhausted, mustFail, noOutcomes, type OutcomeCounts } from '../../src/core/jobs/failures.js';
import { recordLimit } from '../../src/storage/jobs/concurrency.js';
import { readRefused } from '../../src/storage/jobs/cost-budget.js';
import type { Tx } from '../../src/storage/db/db.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import {
  syncRollouts,
  type Claim,
  type SyncResult,
  type CompletedRollouts,
  type WantedSlots,
} from '../../src/storage/rollouts/exchange.js';
import type { Outcome } from '../../src/storage/rollouts/outcomes.js';
import { databasePatienceMs } from '../../src/storage/db/patience.js';
import { isTransient } from '../../src/storage/db/postgres-errors.js';
import { ClaimPrefetch } from './prefetch.js';
import { Concurrency } from './concurrency.js';
import type { ActivityDeps } from '../deps.js';
import { outcomeOf, runOne, type Slice } from './one.js';
import { costSpentMessage } from '../call-meter.js';

/** Renewed by every exchange; after a kill the job waits this long for its next runner. */
export const leaseSeconds = 10;
const idleMs = 1_000;
const heartbeatMs = 1_000;
/** A slice starts rollouts for this long, or for ten of them, whichever is longer; then others have their turn. */
const sliceMs = 30_000;
const sliceRollouts = 10;
/** How long a slice that now and then only waits for rewards goes on. */
const longestMs = 60 * 60_000;
/** So long the first outcome waits for others where no slot waits for the exchange: fewer, larger exchanges cost less. */
const lingerMs = 5;

type Fault = { code: string; message: string; retryable: boolean };
/** `spent`: the session's money is used up. */
type Found<Conclusion> = SyncResult & { conclusion?: Conclusion; spent?: Fault };

/**
 * Runs a job's open rollouts, at most `max_concurrent` at once, until there are none, the job is paused or stopped, the
 * slice's time is over, the workflow asks for its end or the worker shuts down. It starts nothing that it has not claimed,
 * and every exchange with Postgres both records what has ended and claims what may start.
 */
export class Runner<Conclusion> {
  counts: OutcomeCounts = noOutcomes;
  private readonly aborter = new AbortController();
  private readonly inFlight = new Map<string, Promise<void>>();
  private ended: Outcome[] = [];
  private readonly ahead = new ClaimPrefetch();
  /** The last exchange had fewer rollouts to give than there were slots for. */
  private dry = false;
  /** Rollouts that wait for their reward: each keeps its slot. */
  private awaiting = 0;
  private refusal: Fault | null = null;
  private wake: () => void = () => undefined;
  private woken = false;
  private hurry: () => void = () => undefined;
  private asked = false;
  private latency = { sumMs: 0, n: 0 };
  private readonly concurrency: Concurrency;
  private readonly hasCostBudget: boolean;
  private readonly deps: ActivityDeps;
  private readonly job: JobRef;
  private readonly slice: Slice;
  private readonly token: number;
  private readonly conclude: (tx: Tx) => Promise<Conclusion>;

  /** `conclude`: what is done in the transaction of the exchange that leaves nothing to do. */
  constructor(deps: ActivityDeps, job: JobRef, slice: Slice, token: number, conclude: (tx: Tx) => Promise<Conclusion>) {
    this.deps = deps;
    this.job = job;
    this.slice = slice;
    this.token = token;
    this.conclude = conclude;
    this.concurrency = new Concurrency(slice.spec.maxConcurrent, slice.limit);
    this.hasCostBudget = slice.spec.kind !== 'evaluation' && slice.spec.budget.maxCostUsd != null;
    // Every rollout in flight listens to it.
    setMaxListeners(0, this.aborter.signal);
  }

  /**
   * Resolves when the slice has ended and nothing is in flight: with what `conclude` came to, with a fault when the job must
   * fail, with neither when it was stopped.
   */
  async run(): Promise<{ conclusion?: Conclusion; fault?: Fault }> {
    const context = Context.current();
    const begunAt = Date.now();
    let startedAt = begunAt;
    const { draining } = this.deps;
    const drain = () => this.nudge();
    draining.addEventListener('abort', drain);
    context.cancelled.catch((reason: unknown) => {
      // The workflow asks for what there is. Where it does so because the job ends, the control row says `stop`.
      if (context.cancellationDetails?.cancelRequested) this.asked = true;
      // This try is no longer wanted, or the grace period is over: its answers would not count.
      else this.aborter.abort(reason);
      this.nudge();
    });
    const beat = setInterval(() => context.heartbeat({ inFlight: this.inFlight.size }), heartbeatMs);
    const stopListening = this.deps.notifications.on('ratchet_control', this.job.jobId, () => {
      this.ahead.hold();
      this.nudge();
    });
    try {
      for (let idle = false; ;) {
        const late =
          Date.now() - startedAt > Math.max(sliceMs, sliceRollouts * (this.latency.sumMs / (this.latency.n || 1)));
        const mayStart = !this.stopped() && !late && !this.refusal;
        if (!mayStart || idle) this.ahead.giveBack();
        if (this.ended.length > 0 && !this.isUrgent()) await this.linger();
        const done = await this.exchange(mayStart, begunAt);
        if (!done.held || done.control === 'stop') {
          this.aborter.abort(new Error('the job was stopped'));
          await Promise.all(this.inFlight.values());
          return {};
        }
        const fault = this.refusal ?? done.spent ?? mustFail(this.counts, this.slice.spec.maxFailureRate, false);
        if (fault) {
          this.aborter.abort(new Error(fault.message));
          await Promise.all(this.inFlight.values());
          // What had ended by then is kept.
          await this.exchange(false, begunAt);
          return { fault };
        }
        if (done.conclusion !== undefined) return { conclusion: done.conclusion };
        if (done.control === 'run' && mayStart) {
          this.ahead.add(done.claims);
          this.begin();
        } else {
          this.ahead.giveBack();
        }
        if (this.ahead.owes) this.nudge();
        // A slice that only waits for rewards is in nobody's way: it begins anew, and fills the slots they free.
        if (this.isIdle()) startedAt = Date.now();
        idle = await this.something();
      }
    } finally {
      clearInterval(beat);
      stopListening();
      draining.removeEventListener('abort', drain);
      this.aborter.abort(new Error('the slice has ended'));
    }
  }

  /** Whether this runner has nothing in its hands. */
  private isIdle(): boolean {
    return this.inFlight.size + this.ended.length + this.ahead.size === 0 && !this.ahead.owes;
  }

  /** Whether an exchange that found this leaves the slice with nothing to do, and nothing to wait for. */
  private isOver(found: SyncResult, begunAt: number): boolean {
    if (!found.held || found.control === 'stop' || found.claims.length > 0 || !this.isIdle()) return false;
    const waits = !this.stopped() && found.control === 'run' && found.awaiting > 0;
    return !waits || Date.now() - begunAt > longestMs;
  }

  private stopped(): boolean {
    return this.asked || this.deps.draining.aborted || this.aborter.signal.aborted;
  }

  /** One exchange with Postgres; while that does not answer, what has ended is kept. */
  private async exchange(mayStart: boolean, begunAt: number): Promise<Found<Conclusion>> {
    const { report, told } = this.ahead.tell();
    const outcomes = this.ended;
    this.ended = [];
    const limit = this.concurrency.news();
    const givenUpAt = Date.now() + databasePatienceMs;
    const runner = { token: this.token, leaseSeconds, rolloutSeconds: this.slice.spec.rolloutTimeoutS };
    for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 2_000)) {
      try {
        const want = mayStart ? this.wanted() : { slots: 0, ahead: 0 };
        const result = await this.deps.db.org(this.job.orgId, async (tx) => {
          const refused = this.hasCostBudget ? await readRefused(tx, this.job.jobId) : null;
          if (refused) return this.exchangeSpent(tx, runner, { outcomes, ...report }, refused);
          const found = await syncRollouts(tx, this.job, runner, { outcomes, ...report }, want);
          if (limit && found.held) await recordLimit(tx, this.job, limit);
          return this.isOver(found, begunAt) ? { ...found, conclusion: await this.conclude(tx) } : found;
        });
        this.dry = result.claims.length < want.slots + want.ahead;
        this.counts = result.counts;
        this.awaiting = result.awaiting + this.ended.filter((one) => one.status === 'awaiting_reward').length;
        told(result.control, outcomes.length);
        return result;
      } catch (error) {
        if (Date.now() > givenUpAt || this.aborter.signal.aborted || !isTransient(error)) throw error;
        this.deps.log.warn({ err: error, job_id: this.job.jobId }, 'Postgres does not take the outcomes; trying again');
        await delay(waitMs);
      }
    }
  }

  /** Once a model call was refused for want of money nothing is claimed, and what its rollout came to is not its candidate's doing. */
  private async exchangeSpent(
    tx: Tx,
    runner: Parameters<typeof syncRollouts>[2],
    report: CompletedRollouts,
    refused: ReadonlySet<string>,
  ): Promise<Found<Conclusion>> {
    const outcomes = report.outcomes.filter(({ rolloutId }) => !refused.has(rolloutId));
    const found = await syncRollouts(tx, this.job, runner, { ...report, outcomes }, { slots: 0, ahead: 0 });
    return { ...found, spent: { code: costExhausted, message: costSpentMessage, retryable: false } };
  }

  private wanted(): WantedSlots {
    const free = this.freeSlots() - this.ahead.size;
    const { sumMs, n } = this.latency;
    const target = this.ahead.target(this.concurrency.limit, n === 0 ? null : sumMs / n);
    // The exchange itself takes off what waits for a reward.
    return { slots: Math.max(0, free + this.awaiting), ahead: Math.max(0, target + Math.min(0, free)) };
  }

  private freeSlots(): number {
    return this.concurrency.limit - this.inFlight.size - this.awaiting;
  }

  private begin(): void {
    while (this.freeSlots() > 0 && !this.stopped() && !this.refusal) {
      const claim = this.ahead.next();
      if (!claim) return;
      this.start(claim);
    }
  }

  private start(claim: Claim): void {
    const running = this.runOne(claim)
      .then((outcome) => {
        if (!outcome) return;
        this.ended.push(outcome);
        this.ahead.ended(claim.rolloutId);
        if (outcome.status === 'awaiting_reward') this.awaiting += 1;
        this.deps.metrics.rollout(outcome.status, outcome.latencyMs / 1_000);
      })
      .finally(() => {
        this.inFlight.delete(claim.rolloutId);
        this.begin();
        this.nudge();
        if (this.isUrgent()) this.hurry();
      });
    this.inFlight.set(claim.rolloutId, running);
  }

  /** The outcome of one claim; null when it was told to stop, or the key was refused. */
  private async runOne(claim: Claim): Promise<Outcome | null> {
    const { signal } = this.aborter;
    const { concurrency } = this;
    const answered = await runOne(this.deps, this.job, this.slice, claim, { signal, concurrency });
    if (!answered) return null;
    const { result, latencyMs } = answered;
    this.latency = { sumMs: this.latency.sumMs + latencyMs, n: this.latency.n + 1 };
    if (result.kind === 'refused_key') {
      this.refusal = { code: result.code, message: result.message, retryable: false };
      return null;
    }
    if (result.kind === 'reward') this.concurrency.raise();
    return outcomeOf(claim, { result, latencyMs });
  }

  private nudge(): void {
    this.woken = true;
    this.wake();
  }

  /** Whether a slot, or the slice's end, waits for the next exchange. */
  private isUrgent(): boolean {
    return this.inFlight.size === 0 || (!this.dry && this.ahead.size === 0);
  }

  /** Resolves when the exchange is urgent, or shortly. */
  private async linger(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, lingerMs);
      this.hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.hurry = () => undefined;
  }

  /** Resolves when a rollout has ended or the job's control may have changed (false), or a second is over (true). */
  private async something(): Promise<boolean> {
    let idle = false;
    if (!this.woken) {
      idle = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), idleMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve(false);
        };
      });
    }
    this.woken = false;
    this.wake = () => undefined;
    return idle;
  }
}
