import { longestRef } from '../../../core/deployments/ref.js';
import { jobKinds } from '../../../core/jobs/kinds.js';
import { unitOf } from '../../../core/jobs/unit.js';
import { counted } from '../../../core/math/words.js';
import { readDeployment, readUpcoming, type DeploymentRow } from '../../../kinds/deployment/store/deployments.js';
import { readOpenEvaluation, type OpenEvaluation } from '../../../kinds/deployment/store/gate.js';
import type { Db } from '../../../platform/db/db.js';
import { ApiError } from '../../../platform/http/server/errors.js';

/** Seconds until another try: a build takes about one, a gate runs its container. */
const retryAfter = { build: '1', gate: '5' };

/** Why a deployment does not answer: it has failed, or is being built. null: it is unknown. */
export async function refusal(db: Db, orgId: string, ref: string): Promise<ApiError | null> {
  const found = await db.org(orgId, async (tx) => {
    const known = await readDeployment(tx, ref);
    // A name does not answer for a failed deployment.
    const row = known && ref !== known.name ? known : await readUpcoming(tx, ref);
    return row && { row, evaluation: row.spec.gate && (await readOpenEvaluation(tx, row.id)) };
  });
  if (!found) return null;
  const { row, evaluation } = found;
  return row.status === 'failed' ? failed(row) : notReady(row, evaluation);
}

/** The refusal of a model that no deployment serves; `known`: what its name has. */
export function unknownModel(model: string, known: string): ApiError {
  const hint = known === '' ? 'GET /v1/models lists those that answer.' : known;
  const message = `No deployment serves the model "${model.slice(0, longestRef)}"; ${hint}`;
  return new ApiError(404, 'model_not_found', message, { errors: [{ pointer: '/model', message }] });
}

function failed({ id, name, errorDetails }: DeploymentRow): ApiError {
  const reason = errorDetails?.message ?? 'see its status.';
  return new ApiError(409, 'deployment_failed', `Deployment ${id} of ${name} failed: ${reason}`);
}

function notReady({ id, name, status, spec }: DeploymentRow, evaluation: OpenEvaluation | null): ApiError {
  const gate = evaluation && gateProgress(evaluation, counted(spec.gate!.seeds.length, unitOf(spec)));
  const isPaused = evaluation?.status === 'paused';
  const message = [
    `Deployment ${id} of ${name} is ${status}${gate ? `: ${gate}` : ''}.`,
    ...(isPaused ? [`Evaluation ${evaluation.jobId} is paused: resume it.`] : []),
    `Retry when ${jobKinds.deployment.path}/${id}/status is ready.`,
  ].join(' ');
  const seconds = evaluation ? retryAfter.gate : retryAfter.build;
  return new ApiError(409, 'not_ready', message, {
    headers: isPaused ? {} : { 'x-should-retry': 'true', 'retry-after': seconds },
  });
}

function gateProgress({ jobId, measures, seedsLeft }: OpenEvaluation, all: string): string {
  const measured = measures === 'candidate' ? 'the candidate' : 'what the candidate is compared with';
  return `its gate evaluates ${measured}, with ${seedsLeft} of ${all} left (${jobId})`;
}
