import type { OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';
import type { RolloutRequest } from '../../src/core/search/protocol.js';
import { readOpenPrompts } from '../../src/storage/candidates/candidates.js';
import type { Tx } from '../../src/storage/db/db.js';
import { readLimit } from '../../src/storage/jobs/concurrency.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { releaseLease } from '../../src/storage/jobs/leases.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import { areWhole, haveEnded, planRollouts } from '../../src/storage/rollouts/rollouts.js';
import type { ActivityDeps } from '../deps.js';
import { containerKey, lockOpenJob, recordLost } from '../jobs/spec.js';
import type { RunnableJob } from './execute.js';
import { GroupCommits } from './group-commit.js';
import type { JobFault } from './in-flight.js';
import { Interruptions } from './interruptions.js';
import { withLease } from './lease.js';
import { Runner } from './runner.js';

/** Stored rollouts to run: ordinals `from` to `to` (exclusive). */
export interface RolloutRange {
  from: number;
  to: number;
}

/** `finished` false: stopped early by a pause, for fairness, or by the worker's shutdown. */
export interface RunRolloutsResult {
  finished: boolean;
  /** Why the job must fail. */
  fault: JobFault | null;
  /** Outcomes of all the job's rollouts so far; null: not read. */
  counts: OutcomeCounts | null;
}

/** The rows of a job that do not change while it runs. */
export interface RunnableSpec {
  spec: JobSpec;
  apiKey: string | null;
}

/** The activity that runs rollouts, and the lease that it holds. */
export interface RunnerContext {
  job: JobRef;
  runnable: RunnableSpec;
  token: number;
  interruptions: Interruptions;
}

/** `conclusion` and `fault` undefined: interrupted. */
export interface RolloutsResult<Conclusion> {
  conclusion?: Conclusion;
  fault?: JobFault;
  counts: OutcomeCounts;
}

/** Runs rollouts whose first claims are made, until nothing is in flight. */
export type StartedRollouts<Conclusion> = () => Promise<RolloutsResult<Conclusion>>;

export function rolloutActivity({ db, ...deps }: ActivityDeps, rollouts: RolloutRunners) {
  return {
    /** Runs a range of the job's stored rollouts. */
    runRollouts: async ({ orgId, jobId, from, to }: JobRef & RolloutRange): Promise<RunRolloutsResult> => {
      const job: JobRef = { orgId, jobId };
      // Listen first: a pause that is answered after the first claims must be heard.
      const interruptions = new Interruptions(deps, job);
      try {
        const started = await withLease(db, job, interruptions, async (tx, token) => {
          const release = (end: Tx) => releaseLease(end, jobId, token);
          const [runnable] = await Promise.all([rollouts.readSpec(tx, job), lockOpenJob(tx, job)]);
          const context = { job, runnable, token, interruptions };
          const conclude = async (end: Tx) => {
            const [finished] = await Promise.all([haveEnded(end, jobId, from, to), release(end)]);
            return finished;
          };
          return { run: await rollouts.start(tx, context, { from, to }, [], conclude), release };
        });
        if (!started) return { finished: false, fault: null, counts: null };
        const giveUp = () => db.orgHot(orgId, started.release);
        const { conclusion, fault, counts } = await started.run().catch(async (error: unknown) => {
          await giveUp();
          throw error;
        });
        if (conclusion === undefined) await giveUp();
        return { finished: conclusion ?? false, fault: fault ?? null, counts };
      } finally {
        interruptions.close();
      }
    },
  };
}

/** Starts runners; their exchanges share the group commits of their organizations. */
export class RolloutRunners {
  private readonly groupCommits: GroupCommits;
  private readonly deps: ActivityDeps;

  constructor(deps: ActivityDeps) {
    this.deps = deps;
    this.groupCommits = new GroupCommits(deps.db);
  }

  async readSpec(tx: Tx, job: JobRef): Promise<RunnableSpec> {
    const spec = await readSpec<JobSpec>(tx, job.jobId);
    return { spec, apiKey: await containerKey(tx, this.deps.secretKey, job, spec) };
  }

  /**
   * Stores new rollouts of a range and makes the first claims. Call it under `lockOpenJob`.
   * `conclude` runs in the transaction of the last exchange, when none of the range is open.
   */
  async start<Conclusion>(
    tx: Tx,
    { job, runnable: { spec, apiKey }, token, interruptions }: RunnerContext,
    { from, to }: RolloutRange,
    newRequests: RolloutRequest[],
    conclude: (tx: Tx) => Promise<Conclusion>,
  ): Promise<StartedRollouts<Conclusion>> {
    const withCandidate = spec.kind !== 'evaluation' || spec.candidate !== null;
    const [, whole, prompts, limit] = await Promise.all([
      planRollouts(tx, job, newRequests, withCandidate),
      areWhole(tx, job.jobId, from, to),
      readOpenPrompts(tx, job.jobId),
      readLimit(tx, job.jobId),
    ]);
    if (!whole) throw recordLost(job);
    const runnable: RunnableJob = { spec, apiKey, prompts, limit };
    const groupCommit = this.groupCommits.of(job.orgId);
    const runner = new Runner(this.deps, groupCommit, job, runnable, token, interruptions, conclude);
    const first = await runner.exchangeIn(tx);
    return async () => ({ ...(await runner.run(first)), counts: runner.counts });
  }
}
