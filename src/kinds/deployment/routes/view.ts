import type { z } from 'zod';
import { conclusionOf } from '../../../core/math/statistics.js';
import { firstToRetire, type ModelName } from '../../../core/retirements/lookup.js';
import { jobKinds } from '../../../core/jobs/kinds.js';
import type { deploymentListSchema, deploymentSchema, GateView } from '../contract/deployment.js';
import type { DeploymentSettings } from '../contract/settings.js';
import type { CanaryView } from '../contract/canary.js';
import type { DeploymentHead, DeploymentRow } from '../store/deployments.js';
import type { Retires } from '../../../contracts/retirements.js';
import type { OpenEvaluation } from '../store/gate.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { iso, isoOrNull, keyView, rowsView, stuckView } from '../../../jobs/routes/view.js';
import { webhookView } from '../../../jobs/routes/webhooks.js';

export const deploymentsBase = jobKinds.deployment.path;

/** A deployment in a list. */
export function deploymentSummary(row: DeploymentHead): z.output<typeof deploymentListSchema>['deployments'][number] {
  const {
    id,
    name,
    version,
    labels,
    reason,
    status,
    live,
    snapshotId,
    models,
    stuck,
    tags,
    metadata,
    notes,
    archived,
  } = row;
  const registered = { version, labels, created_by: keyView(row.createdBy), reason };
  const marks = { tags, metadata, notes, archived };
  const state = { status, live, snapshot_id: snapshotId, retires: retiresView(models), stuck: stuckView(stuck) };
  return { id, name, ...registered, ...state, ...marks, created_at: iso(row.createdAt) };
}

function retiresView(models: readonly ModelName[]): Retires {
  const first = firstToRetire(models);
  if (!first) return null;
  const { provider, model, shutdownDate, replacement } = first;
  return { provider, model, shutdown_date: shutdownDate, replacement };
}

/** A deployment, with the running evaluation of its gate, and its rollout. */
export function deploymentView(
  row: DeploymentRow,
  { evaluation, canary }: { evaluation: OpenEvaluation | null; canary: CanaryView | null },
  { publicUrl, temporalUrl }: Pick<HttpDeps, 'publicUrl' | 'temporalUrl'>,
): z.output<typeof deploymentSchema> {
  const { source } = row.spec;
  return {
    ...deploymentSummary(row),
    source: {
      session_id: source.kind === 'session' ? source.jobId : null,
      graph_job_id: source.kind === 'graph' ? source.jobId : null,
      candidate_id: 'candidateId' in source ? source.candidateId : null,
      deployment_id: source.kind === 'deployment' ? source.deploymentId : null,
      reward: row.provenance?.reward ?? null,
      verdict: row.provenance?.verdict ?? null,
      heldout: row.provenance?.heldout ?? null,
    },
    gate: gateView(row, evaluation),
    rollout: canary,
    ...settingsView(row.settings),
    ...completionUrls(row, publicUrl),
    previous_id: row.previousId,
    ready_at: isoOrNull(row.liveAt),
    started_at: isoOrNull(row.startedAt),
    completed_at: isoOrNull(row.completedAt),
    error: row.errorDetails?.message ?? null,
    error_details: row.errorDetails,
    warnings: row.warnings,
    webhook: webhookView(row.webhook),
    workflow_id: row.workflowId,
    temporal_url: temporalUrl(row.workflowId),
  };
}

/** Settings; null: none. */
function settingsView({ log, fallbacks, limits, judge }: DeploymentSettings) {
  return { log: log ?? null, fallbacks: fallbacks ?? null, limits: limits ?? null, judge: judge ?? null };
}

/** Inference URLs of a deployment and its name. */
export function completionUrls({ id, name }: { id: string; name: string }, publicUrl: string) {
  const url = (ref: string) => `${publicUrl}${deploymentsBase}/${ref}/chat/completions`;
  return { chat_completions_url: url(id), name_chat_completions_url: url(name) };
}

function gateView(
  { spec: { gate, rows }, gate: found, datasetName }: DeploymentRow,
  evaluation: OpenEvaluation | null,
): GateView | null {
  if (!gate) return null;
  const { candidate, incumbent, comparison } = found ?? { candidate: null, incumbent: null, comparison: null };
  return {
    seeds: gate.seeds.length,
    min_reward: gate.minReward,
    min_improvement: gate.minImprovement,
    ...rowsView(rows, datasetName),
    evaluation: evaluation && {
      job_id: evaluation.jobId,
      status: evaluation.status,
      seeds_left: evaluation.seedsLeft,
    },
    candidate: candidate && { job_id: candidate.jobId, reward: candidate.reward, interval: candidate.interval },
    incumbent: incumbent && {
      job_id: incumbent.jobId,
      deployment_id: incumbent.deploymentId,
      reward: incumbent.reward,
      interval: incumbent.interval,
    },
    comparison: comparison && {
      difference: comparison.difference,
      seeds: comparison.seeds,
      interval: { low: comparison.low, high: comparison.high },
      verdict: conclusionOf(comparison),
      rows_needed: comparison.rowsNeeded,
    },
    flipped_seeds: found?.flippedSeeds ?? [],
    passed: found?.passed ?? null,
  };
}
