import type { z } from 'zod';
import type { migrationListItemSchema, migrationSchema } from '../contract/migration.js';
import type { MigrationSpec } from '../../../core/jobs/spec.js';
import type { Side } from '../../../core/migrations/steps.js';
import { migrationSteps } from '../contract/steps.js';
import type { Judged } from '../../../core/migrations/verdict.js';
import type { JobRow, ListedJob, MigrationHead } from '../../../jobs/store/jobs.js';
import type { MigrationProjection } from '../../../jobs/store/projection.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { jobView, rowsView } from '../../../jobs/routes/view.js';
import type { Tx } from '../../../platform/db/db.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { policyToSnapshot } from '../../deployment/contract/snapshot.js';
import { readSnapshot } from '../../deployment/store/snapshots.js';
import { lostRowsOf } from '../../deployment/routes/lost-rows.js';
import { readPartCosts } from '../../deployment/store/parts.js';
import { partId, readParts } from '../store/record.js';

export type MigrationRow = JobRow<MigrationHead>;

const projectionOf = ({ projection }: MigrationRow) => projection as MigrationProjection;

/** A migration in a list. */
export function migrationListItem(
  job: ListedJob<MigrationHead>,
  _costUsd: number | null,
  deps: HttpDeps,
): z.output<typeof migrationListItemSchema> {
  return summaryView(job, deps);
}

function summaryView(job: MigrationRow, deps: HttpDeps) {
  const { spec } = job;
  const { judged, side, deploymentId } = projectionOf(job);
  return {
    ...jobView(job, deps),
    deployment: spec.deploymentId,
    to: policyToSnapshot(spec.policy),
    ...rowsView(spec.rows, job.datasetName),
    max_loss: spec.maxLoss,
    optimize: spec.optimize,
    max_cost_usd: spec.maxCostUsd,
    side: side ?? null,
    verdict: (side && judged?.[side]?.verdict) ?? null,
    deployment_id: deploymentId ?? null,
  };
}

/** A migration with its jobs and the rows that lost. */
export async function readMigration(
  tx: Tx,
  job: MigrationRow,
  deps: HttpDeps,
): Promise<z.output<typeof migrationSchema>> {
  const { judged = {}, side, notDeployed } = projectionOf(job);
  const { steps, total } = await readPartCosts(tx, await readParts(tx, job.jobId), migrationSteps);
  const { content } = (await readSnapshot(tx, job.spec.snapshotId))!;
  const shown = side ?? (judged.optimized ? 'optimized' : 'same_prompt');
  return {
    ...summaryView(job, deps),
    from: content.kind === 'graph' ? content.policies[0]! : content.policy,
    steps: steps.map(({ step, id, status, costUsd }) => ({ step, job_id: id, status, total_cost_usd: costUsd })),
    same_prompt: judged.same_prompt ? sideView(job, 'same_prompt', judged.same_prompt, deps) : null,
    optimized: judged.optimized ? sideView(job, 'optimized', judged.optimized, deps) : null,
    worse: await readWorse(tx, job, shown, judged[shown]),
    not_deployed: notDeployed ?? null,
    total_cost_usd: total,
  };
}

function sideView({ jobId }: MigrationRow, side: Side, judged: Judged, { publicUrl }: HttpDeps) {
  const { verdict, reward, interval, today, difference, low, high, rows, rowsNeeded, worseCount } = judged;
  const [ours, theirs] = [partId(jobId, side), partId(jobId, 'today')];
  return {
    job_id: ours,
    reward,
    interval,
    today,
    verdict,
    difference,
    difference_interval: { low, high },
    rows,
    rows_needed: rowsNeeded,
    rows_worse: worseCount,
    compare_url: `${publicUrl}/api/v1/compare?a=${theirs}&b=${ours}`,
  };
}

/** The rows that lost, with both answers. */
async function readWorse(tx: Tx, { jobId }: MigrationRow, side: Side, judged: Judged | undefined) {
  if (!judged) return [];
  const { rows } = await readSpec<MigrationSpec>(tx, jobId);
  const evaluations = { now: partId(jobId, side), before: partId(jobId, 'today') };
  return (await lostRowsOf(tx, rows, evaluations, judged.worse)).map(({ lost, now, before }) => ({
    seed: lost.seed,
    today_reward: lost.today,
    reward: lost.reward,
    input: now?.input ?? null,
    expected: now?.expected ?? null,
    today_output: before?.output ?? null,
    output: now?.output ?? null,
  }));
}
