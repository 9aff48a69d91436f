import type { JobFault } from '../../src/core/jobs/fault.js';
import type { EvaluationSpec } from '../../src/core/jobs/spec.js';
import { unitOf } from '../../src/core/jobs/unit.js';
import { progressOfEvaluation } from '../../src/core/jobs/progress.js';
import { readOpenPrompts } from '../../src/candidates/store/candidates.js';
import type { Tx } from '../../src/platform/db/db.js';
import { releaseLease } from '../../src/jobs/store/leases.js';
import { areWhole, haveEnded } from '../../src/rollouts/store/rollouts.js';
import type { ActivityDeps } from '../deps.js';
import type { RolloutRunners } from '../rollouts/run.js';
import type { RunnerContext } from '../rollouts/runner.js';
import { restOfFault, startNothing, type Driven, type Rest } from './rest.js';

/** Runs the rollouts of an evaluation that have no outcome. */
export async function startEvaluation(
  tx: Tx,
  { db }: ActivityDeps,
  rollouts: RolloutRunners,
  runner: RunnerContext,
): Promise<() => Promise<Driven>> {
  const { job, token } = runner;
  const { jobId } = job;
  const spec = runner.runnable.spec as EvaluationSpec;
  const total = spec.seeds.length;
  const release = (end: Tx) => releaseLease(end, jobId, token);
  const [whole, prompts] = await Promise.all([areWhole(tx, jobId, 0, total), readOpenPrompts(tx, jobId)]);
  if (!whole) return startNothing(tx, runner);
  const run = await rollouts.start<boolean, boolean>(tx, runner, prompts, {
    read: (last) => haveEnded(last, jobId, 0, total),
    isOver: (hasEnded) => hasEnded,
    conclude: (last, hasEnded) => release(last).then(() => hasEnded),
  });
  return async () => {
    const giveUp = () => db.orgHot(job.orgId, release);
    const { conclusion, fault, counts } = await run().catch(async (error: unknown) => {
      await giveUp();
      throw error;
    });
    if (conclusion === undefined) await giveUp();
    return { rest: restOf(conclusion, fault), progress: progressOfEvaluation(counts, total, unitOf(spec)) };
  };
}

function restOf(hasEnded: boolean | undefined, fault: JobFault | undefined): Rest {
  if (fault) return restOfFault(fault);
  return hasEnded ? { kind: 'ended', end: { kind: 'completed', stoppedBy: 'completed' } } : { kind: 'again' };
}
