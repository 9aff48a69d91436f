import type { z } from 'zod';
import type { checkupListItemSchema, checkupSchema } from '../contract/checkup.js';
import { checkupSteps } from '../contract/steps.js';
import type { CheckupSpec } from '../../../core/jobs/spec.js';
import { verdictOf, type CheckedPart, type Part } from '../../../core/checkups/steps.js';
import type { Checked, Improvement } from '../../../core/checkups/verdict.js';
import type { JobRow, ListedJob, CheckupHead } from '../../../jobs/store/jobs.js';
import type { CheckupProjection } from '../../../jobs/store/projection.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { jobView } from '../../../jobs/routes/view.js';
import type { Tx } from '../../../platform/db/db.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { lostRowsOf } from '../../deployment/routes/lost-rows.js';
import { readPartCosts, type PartRow } from '../../deployment/store/parts.js';
import { partId, readParts } from '../store/record.js';

export type CheckupRow = JobRow<CheckupHead>;

const projectionOf = ({ projection }: CheckupRow) => projection as CheckupProjection;

/** A checkup in a list. */
export function checkupListItem(
  job: ListedJob<CheckupHead>,
  _costUsd: number | null,
  deps: HttpDeps,
): z.output<typeof checkupListItemSchema> {
  return summaryView(job, deps);
}

function summaryView(job: CheckupRow, deps: HttpDeps) {
  const { spec } = job;
  const { judged = {}, number, approval, deploymentId } = projectionOf(job);
  return {
    ...jobView(job, deps),
    deployment: spec.deploymentId,
    improve: spec.improve?.when ?? null,
    max_change: spec.maxChange,
    checkup_number: number ?? null,
    verdict: verdictOf(judged),
    improvement_verdict: judged.improvement?.verdict ?? null,
    approval: approval ?? null,
    deployment_id: deploymentId ?? null,
  };
}

/** A checkup with its jobs and the rows that lost. */
export async function readCheckup(tx: Tx, job: CheckupRow, deps: HttpDeps): Promise<z.output<typeof checkupSchema>> {
  const { judged = {}, baselines, notDeployed } = projectionOf(job);
  const { parts } = await readSpec<CheckupSpec>(tx, job.jobId);
  const { steps, total } = await readPartCosts(tx, await readParts(tx, job.jobId), checkupSteps);
  const checked = (part: CheckedPart) => {
    const found = judged[part];
    return found ? checkedView(partId(job.jobId, part), found, parts[part]!.rows, baselines?.[part] ?? null) : null;
  };
  return {
    ...summaryView(job, deps),
    rows: checked('rows'),
    traffic: checked('traffic'),
    improvement: judged.improvement ? improvementView(job, judged.improvement, steps, deps) : null,
    worse: await worseRows(tx, job, parts, judged.rows, baselines?.rows ?? null),
    steps: steps.map(({ step, id, status, costUsd }) => ({ step, job_id: id, status, total_cost_usd: costUsd })),
    not_deployed: notDeployed ?? null,
    max_cost_usd: job.spec.maxCostUsd,
    total_cost_usd: total,
  };
}

function checkedView(
  jobId: string,
  { verdict, reward, interval, rows, compared, worseCount }: Checked,
  { datasetId, scorer }: NonNullable<CheckupSpec['parts']['rows']>['rows'],
  baselineId: string | null,
) {
  return {
    job_id: jobId,
    dataset_id: datasetId,
    scorer: scorer.type,
    verdict,
    reward,
    interval,
    rows,
    baseline: compared && { job_id: baselineId!, ...compared.baseline },
    difference: compared && compared.difference,
    difference_interval: compared && { low: compared.low, high: compared.high },
    p_value: compared && compared.pValue,
    rows_worse: worseCount,
  };
}

function improvementView(
  { jobId }: CheckupRow,
  { verdict, reward, interval, today, difference, low, high, rows }: Improvement,
  steps: readonly (PartRow & { step: Part })[],
  { publicUrl }: HttpDeps,
) {
  const { id, projection } = steps.find(({ step }) => step === 'session')!;
  const winner = partId(jobId, 'winner');
  return {
    job_id: winner,
    session_id: id,
    candidate_id: projection.bestCandidateId!,
    verdict,
    reward,
    interval,
    today,
    difference,
    difference_interval: { low, high },
    rows,
    compare_url: `${publicUrl}/api/v1/compare?a=${partId(jobId, 'traffic')}&b=${winner}`,
  };
}

/** The rows that lost, with both answers. */
async function worseRows(
  tx: Tx,
  { jobId }: CheckupRow,
  { rows }: CheckupSpec['parts'],
  found: Checked | undefined,
  baselineId: string | null,
) {
  if (!rows || !found || baselineId === null) return [];
  const evaluations = { now: partId(jobId, 'rows'), before: baselineId };
  return (await lostRowsOf(tx, rows.rows, evaluations, found.worse)).map(({ lost, now, before }) => ({
    seed: lost.seed,
    baseline_reward: lost.today,
    reward: lost.reward,
    input: now?.input ?? null,
    expected: now?.expected ?? null,
    baseline_output: before?.output ?? null,
    output: now?.output ?? null,
  }));
}
