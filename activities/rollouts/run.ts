import type { OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { JobFault } from '../../src/core/jobs/fault.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import type { StoredPrompt } from '../../src/candidates/store/candidates.js';
import type { Tx } from '../../src/platform/db/db.js';
import { readLimit } from '../../src/jobs/store/concurrency.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { readSpec } from '../../src/jobs/store/spec.js';
import { readTrace } from '../../src/jobs/store/traces.js';
import type { Claim, SyncResult } from '../../src/rollouts/store/exchange.js';
import type { ActivityDeps } from '../deps.js';
import { containerKey } from '../jobs/spec.js';
import { Concurrency } from './concurrency.js';
import type { ExchangeResult, RunEnd } from './exchange.js';
import { GroupCommits } from './group-commit.js';
import { Runner, type RunnerContext } from './runner.js';

/** `conclusion` and `fault` undefined: interrupted. */
export interface RolloutsResult<Conclusion> {
  conclusion?: Conclusion;
  fault?: JobFault;
  counts: OutcomeCounts;
}

/** Runs rollouts whose first claims are made, until nothing is in flight. */
export type StartedRollouts<Conclusion> = () => Promise<RolloutsResult<Conclusion>>;

/** Starts runners; their exchanges share the group commits of their organizations. */
export class RolloutRunners {
  private readonly groupCommits: GroupCommits;
  private readonly deps: ActivityDeps;

  constructor(deps: ActivityDeps) {
    this.deps = deps;
    this.groupCommits = new GroupCommits(deps.db);
  }

  /** Reads the rows of a job that its runners need. */
  async open(tx: Tx, job: JobRef): Promise<Pick<RunnerContext, 'runnable' | 'concurrency'>> {
    const [spec, limit, trace] = await Promise.all([
      readSpec<JobSpec>(tx, job.jobId),
      readLimit(tx, job.jobId),
      this.deps.tracing ? readTrace(tx, job.jobId) : null,
    ]);
    const apiKey = await containerKey(tx, this.deps.secretKey, job, spec);
    return { runnable: { spec, apiKey, trace }, concurrency: new Concurrency(spec.maxConcurrent, limit) };
  }

  /** Makes the first claims of stored rollouts, under the job's lock. */
  async start<Read, Conclusion>(
    tx: Tx,
    context: RunnerContext,
    prompts: Map<number, StoredPrompt>,
    end: RunEnd<Read, Conclusion>,
  ): Promise<StartedRollouts<Conclusion>> {
    const runner = this.runnerOf(context, prompts, end);
    const first = await runner.exchangeIn(tx);
    return started(runner, first);
  }

  /**
   * Starts with rollouts that the caller stores and claims, in a transaction of an exchange that
   * `found` nothing open. `claim`: given the free slots, stores all and claims as many.
   */
  async startNew<Read, Conclusion>(
    context: RunnerContext,
    prompts: Map<number, StoredPrompt>,
    end: RunEnd<Read, Conclusion>,
    found: SyncResult,
    claim: (slots: number) => Promise<Claim[]>,
  ): Promise<StartedRollouts<Conclusion>> {
    const runner = this.runnerOf(context, prompts, end);
    return started(runner, runner.startWith(await claim(context.concurrency.limit), found));
  }

  private runnerOf<Read, Conclusion>(
    context: RunnerContext,
    prompts: Map<number, StoredPrompt>,
    end: RunEnd<Read, Conclusion>,
  ): Runner<Conclusion> {
    const groupCommit = this.groupCommits.of(context.job.orgId);
    const runnable = { ...context.runnable, prompts };
    return new Runner(this.deps, groupCommit, { ...context, runnable }, end as RunEnd<unknown, Conclusion>);
  }
}

function started<Conclusion>(
  runner: Runner<Conclusion>,
  first: ExchangeResult<Conclusion>,
): StartedRollouts<Conclusion> {
  return async () => ({ ...(await runner.run(first)), counts: runner.counts });
}
