import { Context } from '@temporalio/activity';
import { packAnswers, unpackRequests, type PackedAnswers, type RequestGroup } from '../src/core/batches.js';
import type { OutcomeCounts } from '../src/core/failures.js';
import type { JobSpec } from '../src/contracts/spec.js';
import type { JobRef } from '../src/storage/events.js';
import { acquireLease, releaseLease } from '../src/storage/leases.js';
import { areWhole, planRollouts, readAnswers } from '../src/storage/rollouts.js';
import type { ActivityDeps } from './deps.js';
import { guarded } from './failure.js';
import { containerKey, lockOpenJob, readSpec, recordLost } from './jobs.js';
import { leaseSeconds, Runner } from './runner.js';

export interface SliceInput extends JobRef {
  /** The rollouts to add first; null: they are there already. */
  plan: RequestGroup[] | null;
  from: number;
  to: number;
  collect: boolean;
}

/** `finished` false: the slice ended before its rollouts did (a pause, its time, the worker's shutdown). */
export interface SliceReport {
  finished: boolean;
  answers: PackedAnswers | null;
  fault: { code: string; message: string } | null;
  /** Of all the job's rollouts so far. */
  counts: OutcomeCounts;
}

const leaseRetryMs = 250;

/** Runs a job's rollouts under its lease. */
export function rolloutActivity(deps: ActivityDeps) {
  const { db } = deps;
  return {
    runRollouts: (input: SliceInput): Promise<SliceReport> =>
      guarded(async () => {
        const job: JobRef = { orgId: input.orgId, jobId: input.jobId };
        const spec = await db.org(job.orgId, (tx) => readSpec<JobSpec>(tx, job));
        const { plan, from, to } = input;
        await db.org(job.orgId, async (tx) => {
          if (plan) {
            await lockOpenJob(tx, job);
            await planRollouts(tx, job, unpackRequests(plan), spec.kind === 'session' || spec.candidate !== null);
          }
          if (!(await areWhole(tx, job.jobId, from, to))) throw recordLost(job);
        });
        const apiKey = await containerKey(db, deps.secretKey, job, spec);
        const token = await waitForLease(deps, job);
        const runner = new Runner(deps, job, spec, apiKey, token);
        const fault = await runner.run().finally(() => db.org(job.orgId, (tx) => releaseLease(tx, job.jobId, token)));
        const { counts } = runner;
        const unfinished = { finished: false, answers: null, counts };
        if (fault) return { ...unfinished, fault };
        const answers = await db.org(job.orgId, (tx) => readAnswers(tx, job.jobId, from, to));
        if (!answers) return { ...unfinished, fault: null };
        return { finished: true, answers: input.collect ? packAnswers(answers) : null, fault: null, counts };
      }),
  };
}

/** Waits until no other runner holds the job: one that was killed holds it until its lease runs out. */
async function waitForLease({ db }: ActivityDeps, job: JobRef): Promise<number> {
  const context = Context.current();
  const owner = `${context.info.taskToken ? Buffer.from(context.info.taskToken).toString('base64url').slice(-24) : ''}:${process.pid}`;
  for (;;) {
    const token = await db.org(job.orgId, (tx) => acquireLease(tx, job.jobId, owner, leaseSeconds));
    if (token !== null) return token;
    context.heartbeat();
    await context.sleep(leaseRetryMs);
  }
}
