import type { RolloutOutcome } from '../../src/clients/container/client.js';
import type { OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { JobFault } from '../../src/core/jobs/fault.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { Claim } from '../../src/rollouts/store/exchange.js';
import type { Outcome } from '../../src/rollouts/store/outcomes.js';
import type { ActivityDeps } from '../deps.js';
import type { Concurrency } from './concurrency.js';
import { executeRollout, longestCallMs, storedOutcome, type RolloutResult, type RunnableJob } from './execute.js';
import type { RolloutControl } from './source.js';
import { StoodStill, type Watch } from '../watch/watch.js';
import { watchedDeps } from '../watch/watched-deps.js';

type FailedOutcome = Extract<RolloutOutcome, { kind: 'failed' }>;

/** The runner of the rollouts in flight, which receives the end of each. */
export interface InFlightContext {
  deps: ActivityDeps;
  job: JobRef;
  runnable: RunnableJob;
  signal: AbortSignal;
  concurrency: Concurrency;
  watch: Watch;
  /** The recorded outcomes of the job so far. */
  counts(): OutcomeCounts;
  /** A rollout has an outcome. */
  onOutcome(outcome: Outcome): void;
  /** A slot is free; the rollout had an outcome, or was stopped. */
  onFreeSlot(): void;
}

/** The rollouts that a runner has started and that have not ended. */
export class InFlightRollouts {
  /** Set once every further rollout would fail: a refused key, a used-up quota, a hang. */
  refusal: JobFault | null = null;
  /** The first rollout that stood still; its claim is left to the next attempt. */
  standstill: StoodStill | null = null;
  private hasSucceeded = false;
  /** Whether a try ended, other than by a time-out. */
  private hasAnswered = false;
  private readonly running = new Map<string, Promise<void>>();
  private latency = { sumMs: 0, count: 0 };
  private readonly context: InFlightContext;

  constructor(context: InFlightContext) {
    this.context = context;
  }

  get size(): number {
    return this.running.size;
  }

  /** Whether nothing more may start. */
  get isRefusing(): boolean {
    return this.refusal !== null || this.standstill !== null;
  }

  /** Null: no rollout has ended yet. */
  get meanLatencyMs(): number | null {
    const { sumMs, count } = this.latency;
    return count === 0 ? null : sumMs / count;
  }

  start(claim: Claim): void {
    const running = this.run(claim)
      .then((outcome) => {
        if (!outcome) return;
        this.context.onOutcome(outcome);
        this.context.deps.metrics.rollout(outcome.status, outcome.latencyMs / 1_000, outcome.error?.code);
      })
      .finally(() => {
        this.running.delete(claim.rolloutId);
        this.context.onFreeSlot();
      });
    this.running.set(claim.rolloutId, running);
  }

  /** Resolves when all have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.running.values());
  }

  /** Null: the rollout was stopped or stood still, or all rollouts would be refused. */
  private async run(claim: Claim): Promise<Outcome | null> {
    const { concurrency } = this.context;
    let timeouts = 0;
    const mayRetry = (timedOut: boolean) => {
      if (timedOut) timeouts += 1;
      else this.hasAnswered = true;
      return !this.isHanging(timeouts);
    };
    const result = await this.execute(claim, mayRetry);
    if (!result) return null;
    const { outcome, latencyMs } = result;
    this.latency = { sumMs: this.latency.sumMs + latencyMs, count: this.latency.count + 1 };
    if (outcome.kind === 'refused_key' || outcome.kind === 'quota_exceeded') {
      const { code, message, kind } = outcome;
      this.refusal = { code, message, retryable: kind === 'quota_exceeded' };
      return null;
    }
    if (outcome.kind === 'failed') this.refusal ??= this.faultOf(outcome, this.isHanging(timeouts));
    if (outcome.kind === 'reward') {
      this.hasSucceeded = true;
      concurrency.raise();
    }
    return storedOutcome(claim, outcome, latencyMs);
  }

  private async execute(claim: Claim, mayRetry: RolloutControl['mayRetry']): Promise<RolloutResult | null> {
    const { deps, job, runnable, concurrency, signal, watch } = this.context;
    const control = { signal, concurrency, mayRetry };
    const name = { kind: 'rollout' as const, id: claim.rolloutId };
    try {
      return await watch.part(name, longestCallMs(runnable.spec), (part) =>
        executeRollout(watchedDeps(deps, part), job, runnable, claim, control),
      );
    } catch (error) {
      if (!(error instanceof StoodStill)) throw error;
      this.standstill ??= error;
      return null;
    }
  }

  /** Whether two tries of a rollout timed out, and no try of the job was ever answered: a hang. */
  private isHanging(timeouts: number): boolean {
    const { succeeded, failed } = this.context.counts();
    return timeouts >= 2 && !this.hasAnswered && succeeded + failed === 0;
  }

  /** The reason to fail the job with a failed rollout, or null. */
  private faultOf({ code, message, systemic }: FailedOutcome, isHanging: boolean): JobFault | null {
    if (isHanging) {
      const hang = `No rollout was answered, and two tries of one timed out. ${message} Check the container, or raise rollout_timeout.`;
      return { code, message: hang, retryable: true };
    }
    const isFirst = !this.hasSucceeded && this.context.counts().succeeded === 0;
    return systemic && isFirst ? { code, message, retryable: false } : null;
  }
}
