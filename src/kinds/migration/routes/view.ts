import type { z } from 'zod';
import type { migrationListItemSchema, migrationSchema } from '../contract/migration.js';
import type { MigrationSpec } from '../../../core/jobs/spec.js';
import { type EvaluationPart, type Part, type Side } from '../../../core/migrations/steps.js';
import { migrationSteps } from '../contract/steps.js';
import type { Judged } from '../../../core/migrations/verdict.js';
import type { JobRow, ListedJob, MigrationHead } from '../../../jobs/store/jobs.js';
import type { MigrationProjection } from '../../../jobs/store/projection.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { readCosts } from '../../../jobs/store/usage.js';
import { jobView, rowsView } from '../../../jobs/routes/view.js';
import { readSeedOutputs, type SeedOutput } from '../../../rollouts/store/outputs.js';
import { plus } from '../../../util/sums.js';
import type { Tx } from '../../../platform/db/db.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { policyToSnapshot } from '../../deployment/contract/snapshot.js';
import { readSnapshot } from '../../deployment/store/snapshots.js';
import { partId, readParts, type PartRow } from '../store/record.js';

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
    ...rowsView(spec.rows),
    max_loss: spec.maxLoss,
    optimize: spec.optimize,
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
  const parts = await readParts(tx, job.jobId);
  const costs = await readCosts(
    tx,
    [...parts.values()].map(({ id }) => id),
  );
  const costOf = ({ id }: PartRow) => costs.get(id) ?? null;
  const { content } = (await readSnapshot(tx, job.spec.snapshotId))!;
  const shown = side ?? (judged.optimized ? 'optimized' : 'same_prompt');
  const ordered = [...parts].sort(([left], [right]) => orderOf(left) - orderOf(right));
  return {
    ...summaryView(job, deps),
    from: content.kind === 'graph' ? content.policies[0]! : content.policy,
    steps: ordered.map(([step, row]) => ({
      step,
      job_id: row.id,
      status: row.status,
      total_cost_usd: costOf(row),
    })),
    same_prompt: judged.same_prompt ? sideView(job, 'same_prompt', judged.same_prompt, deps) : null,
    optimized: judged.optimized ? sideView(job, 'optimized', judged.optimized, deps) : null,
    worse: await readWorse(tx, job, shown, judged[shown]),
    not_deployed: notDeployed ?? null,
    total_cost_usd: ordered.map(([, row]) => costOf(row)).reduce(plus, 0),
  };
}

/** Where a step stands in the order in which a migration runs its jobs. */
const orderOf = (part: Part): number => migrationSteps.indexOf(part);

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
async function readWorse(tx: Tx, job: MigrationRow, side: Side, judged: Judged | undefined) {
  if (!judged || judged.worse.length === 0) return [];
  const { rows } = await readSpec<MigrationSpec>(tx, job.jobId);
  const seeds = judged.worse.map(({ seed }) => seed);
  const outputsOf = async (part: EvaluationPart): Promise<Map<number, SeedOutput>> => {
    const found = await readSeedOutputs(tx, partId(job.jobId, part), rows, { limit: seeds.length, offset: 0, seeds });
    return new Map(found.map((output) => [output.seed, output]));
  };
  const [ours, theirs] = [await outputsOf(side), await outputsOf('today')];
  return judged.worse.map(({ seed, today, reward }) => ({
    seed,
    today_reward: today,
    reward,
    input: ours.get(seed)?.input ?? null,
    expected: ours.get(seed)?.expected ?? null,
    today_output: theirs.get(seed)?.output ?? null,
    output: ours.get(seed)?.output ?? null,
  }));
}
