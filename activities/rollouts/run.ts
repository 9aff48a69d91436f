import { Context } from '@temporalio/activity';
import {
  packAnswers,
  unpackRequests,
  type PackedAnswers,
  type RequestGroup,
} from '../../src/core/jobs/rollout-packing.js';
import type { OutcomeCounts } from '../../src/core/jobs/failures.js';
import type { GraphSpec, JobSpec } from '../../src/core/jobs/spec.js';
import { readOpenPrompts } from '../../src/storage/candidates/candidates.js';
import { readLimit } from '../../src/storage/jobs/concurrency.js';
import type { Tx } from '../../src/storage/db/db.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { acquireLease, releaseLease } from '../../src/storage/jobs/leases.js';
import { areWhole, haveEnded, planRollouts, readAnswers } from '../../src/storage/rollouts/rollouts.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import type { ActivityDeps } from '../deps.js';
import { containerKey, lockOpenJob, recordLost } from '../jobs/spec.js';
import { recordSearchUpdate, type SearchUpdate } from '../jobs/search-update.js';
import type { JobFault } from './in-flight.js';
import { ControlNews } from './control-news.js';
import { leaseSeconds, type ExchangeResult } from './exchange.js';
import type { RunnableJob } from './execute.js';
import { GroupCommits, type GroupCommit } from './group-commit.js';
import { Runner } from './runner.js';

/** The range of rollouts to run: ordinals `from` to `to` (exclusive). */
export interface RunRolloutsInput extends JobRef {
  /** Rollouts to store first; null: they are stored already. */
  newRequests: RequestGroup[] | null;
  from: number;
  to: number;
  /** Whether to return the answers. */
  collect: boolean;
  /** The search update that asked for these rollouts, recorded before the first of them runs. */
  update?: SearchUpdate;
}

/** `finished` false: stopped early by a pause, for fairness, or by the worker's shutdown. */
export interface RunRolloutsResult {
  finished: boolean;
  answers: PackedAnswers | null;
  /** Why the job must fail. */
  fault: JobFault | null;
  /** Outcomes of all the job's rollouts so far. */
  counts: OutcomeCounts;
}

const leaseRetryMs = 250;

export function rolloutActivity(deps: ActivityDeps) {
  const groupCommits = new GroupCommits(deps.db);
  return {
    runRollouts: async (input: RunRolloutsInput): Promise<RunRolloutsResult> => {
      const job: JobRef = { orgId: input.orgId, jobId: input.jobId };
      // Listen first: a pause that is answered after the first claims must be heard.
      const control = new ControlNews(deps.notifications, job);
      try {
        const { runner, first } = await start(deps, groupCommits.of(job.orgId), job, input, control);
        const giveUp = () => deps.db.orgHot(job.orgId, (tx) => releaseLease(tx, job.jobId, runner.token));
        const { conclusion, fault } = await runner.run(first).catch(async (error: unknown) => {
          await giveUp();
          throw error;
        });
        if (!conclusion) await giveUp();
        const { finished, answers } = conclusion ?? { finished: false, answers: null };
        return { finished, answers, fault: fault ?? null, counts: runner.counts };
      } finally {
        control.close();
      }
    },
  };
}

type Conclusion = Pick<RunRolloutsResult, 'finished' | 'answers'>;

/** Stores the rollouts, takes the lease and makes the first claims, in one transaction. */
async function start(
  deps: ActivityDeps,
  groupCommit: GroupCommit,
  job: JobRef,
  input: RunRolloutsInput,
  control: ControlNews,
): Promise<{ runner: Runner<Conclusion>; first: ExchangeResult<Conclusion> | null }> {
  const started = await deps.db.orgHot(job.orgId, async (tx) => {
    const [spec, row] = await Promise.all([readSpec<JobSpec>(tx, job.jobId), lockOpenJob(tx, job)]);
    const withCandidate = spec.kind !== 'evaluation' || spec.candidate !== null;
    const [apiKey, , , whole, prompts, limit, token] = await Promise.all([
      containerKey(tx, deps.secretKey, job, spec),
      input.update && recordSearchUpdate(tx, job, input.update, row),
      input.newRequests && planRollouts(tx, job, unpackRequests(input.newRequests), withCandidate),
      areWhole(tx, job.jobId, input.from, input.to),
      readOpenPrompts(tx, job.jobId),
      readLimit(tx, job.jobId),
      acquireLease(tx, job.jobId, runnerName(), leaseSeconds),
    ]);
    if (!whole) throw recordLost(job);
    const runnable: RunnableJob = { spec, apiKey, prompts, limit };
    const runnerOf = (lease: number) =>
      new Runner(deps, groupCommit, job, runnable, lease, control, (tx) => conclude(tx, input, spec, lease));
    const runner = token === null ? null : runnerOf(token);
    return { runnerOf, runner, first: runner && (await runner.exchangeIn(tx)) };
  });
  const { runnerOf, runner, first } = started;
  return { runner: runner ?? runnerOf(await waitForLease(deps, job)), first };
}

/** The end of the last exchange. */
async function conclude(
  tx: Tx,
  { jobId, from, to, collect }: RunRolloutsInput,
  spec: JobSpec,
  token: number,
): Promise<Conclusion> {
  const [finished, answers] = await Promise.all([
    collect || haveEnded(tx, jobId, from, to),
    collect ? readAnswers(tx, jobId, from, to, costUnitOf(spec)) : null,
    releaseLease(tx, jobId, token),
  ]);
  // Answers exist once all rollouts have ended.
  return { finished: collect ? answers !== null : finished, answers: answers && packAnswers(answers) };
}

/** Graphs do not all cost the same. */
function costUnitOf(spec: JobSpec): GraphSpec['costUnit'] | undefined {
  return spec.kind === 'graph' ? spec.costUnit : undefined;
}

/** Waits for the lease: a killed runner holds it until it runs out. */
async function waitForLease({ db }: ActivityDeps, job: JobRef): Promise<number> {
  const context = Context.current();
  for (;;) {
    context.heartbeat();
    await context.sleep(leaseRetryMs);
    const token = await db.org(job.orgId, (tx) => acquireLease(tx, job.jobId, runnerName(), leaseSeconds));
    if (token !== null) return token;
  }
}

/** Who holds the lease, for people who look at the table. */
function runnerName(): string {
  return `${Buffer.from(Context.current().info.taskToken).toString('base64url').slice(-24)}:${process.pid}`;
}
