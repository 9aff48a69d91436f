import type { SearchProgress } from '../../src/core/algorithms/progress.js';
import { addCandidate } from '../../src/candidates/store/candidates.js';
import type { Tx } from '../../src/platform/db/db.js';
import { unitOf } from '../../src/core/jobs/unit.js';
import type { ControlRow } from '../../src/jobs/store/events.js';
import { releaseLease } from '../../src/jobs/store/leases.js';
import { recordInput, saveSearch } from '../../src/jobs/store/step-log.js';
import { takePrompt } from '../../src/jobs/store/suggestions.js';
import type { ActivityDeps } from '../deps.js';
import { logGenerations, type RecordedGeneration } from '../jobs/generations.js';
import { recordSearchUpdate } from '../jobs/search-update.js';
import { lockHeldJob } from '../jobs/spec.js';
import type { RunnerContext } from '../rollouts/runner.js';
import type { StepRecord } from './steps.js';

/** Records steps under the lock of a job whose lease the caller holds. */
export async function recordSteps(
  tx: Tx,
  { job, token, runnable }: RunnerContext,
  steps: readonly StepRecord[],
): Promise<{ row: ControlRow; generations: RecordedGeneration[] }> {
  const row = await lockHeldJob(tx, job, token);
  return { row, generations: await writeSteps(tx, { job, runnable }, steps) };
}

/** Records steps of a job that the transaction has locked, and whose lease is held. */
export async function writeSteps(
  tx: Tx,
  { job, runnable }: Pick<RunnerContext, 'job' | 'runnable'>,
  steps: readonly StepRecord[],
): Promise<RecordedGeneration[]> {
  const unit = unitOf(runnable.spec);
  const generations: RecordedGeneration[] = [];
  // One after the other: each changes what the next one reads.
  for (const { input, candidates = [], update } of steps) {
    const [, completed] = await Promise.all([
      Promise.all(candidates.map((candidate) => addCandidate(tx, job, candidate))),
      recordSearchUpdate(tx, job, unit, update),
      recordInput(tx, job, update.step, input),
      input.kind === 'given' && takePrompt(tx, input.id),
    ]);
    generations.push(...completed);
  }
  return generations;
}

/** Records the steps and, if it has changed, the search; gives the lease back. */
export async function endSlice(
  { db, log }: ActivityDeps,
  runner: RunnerContext,
  steps: readonly StepRecord[],
  changed: SearchProgress | null,
): Promise<void> {
  const { job, token } = runner;
  const generations = await db.orgHot(job.orgId, async (tx) => {
    const { row, generations } = await recordSteps(tx, runner, steps);
    if (changed) await saveSearch(tx, job, changed, row.run);
    await releaseLease(tx, job.jobId, token);
    return generations;
  });
  logGenerations(log, job, generations);
}
