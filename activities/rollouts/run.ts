import type { OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { JobFault } from '../../src/core/jobs/fault.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import type { StoredPrompt } from '../../src/storage/candidates/candidates.js';
import type { Tx } from '../../src/storage/db/db.js';
import { readLimit } from '../../src/storage/jobs/concurrency.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import { readTrace } from '../../src/storage/jobs/traces.js';
import type { SyncResult } from '../../src/storage/rollouts/exchange.js';
import type { ActivityDeps } from '../deps.js';
import { containerKey } from '../jobs/spec.js';
import { Concurrency } from './concurrency.js';
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

  /**
   * Makes the first claims of stored rollouts, under the job's lock. `conclude` runs in the
   * transaction of the last exchange, when no rollout of the job is open.
   */
  async start<Conclusion>(
    tx: Tx,
    context: RunnerContext,
    prompts: Map<number, StoredPrompt>,
    conclude: (tx: Tx, found: SyncResult) => Promise<Conclusion>,
  ): Promise<StartedRollouts<Conclusion>> {
    const groupCommit = this.groupCommits.of(context.job.orgId);
    const runnable = { ...context.runnable, prompts };
    const runner = new Runner(this.deps, groupCommit, { ...context, runnable }, conclude);
    const first = await runner.exchangeIn(tx);
    return async () => ({ ...(await runner.run(first)), counts: runner.counts });
  }
}
