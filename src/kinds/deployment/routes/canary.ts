/** What a person decides of a canary. */
import type { FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import { stepsOf } from '../../../core/deployments/canary/plan.js';
import { canaryDecided, canaryWaits, evidenceOf } from '../../../core/events/canary.js';
import type { DeploymentSpec } from '../../../core/jobs/spec.js';
import { iso, isoOrNull } from '../../../jobs/routes/view.js';
import { appendEvents, lockJob, type JobRef } from '../../../jobs/store/events.js';
import { readSpec } from '../../../jobs/store/spec.js';
import type { Tx } from '../../../platform/db/db.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { bodyProblems, idempotencyHeader, problems } from '../../../platform/http/server/schema.js';
import { canaryCommandSchema, canaryView, type CanaryAction, type CanaryView } from '../contract/canary.js';
import type { ChangedBy } from '../store/changes.js';
import {
  endCanary,
  readCanary,
  readCanaryOf,
  readCounts,
  readNewestCanary,
  setPaused,
  type Canary,
} from '../store/canaries.js';
import type { DeploymentRow } from '../store/deployments.js';
import { lockName, promote } from '../store/names.js';
import { find, path, tags } from './find.js';

const params = z.object({
  deployment_id: z.string().describe('The id of the version that is rolled out, or its name.'),
});

export function registerCanary(app: App, deps: HttpDeps): void {
  app.get(
    `${path}/rollout`,
    {
      schema: {
        tags,
        operationId: 'getRollout',
        summary: 'How far a version that is rolled out has come; of a name the newest one',
        params,
        response: { 200: canaryView, ...problems(404) },
      },
    },
    async (request) => {
      const { deployment_id: ref } = request.params;
      const { id, name, orgId } = await find(deps, request, ref);
      return deps.db.org(orgId, async (tx) => {
        const canary = ref === name ? await readNewestCanary(tx, name) : await readCanary(tx, id);
        if (!canary) throw refuse.notFound(`rollout of ${ref.slice(0, 100)}`);
        return viewOf(tx, canary);
      });
    },
  );

  app.post(
    `${path}/rollout`,
    {
      schema: {
        tags,
        operationId: 'decideRollout',
        summary: 'Pause, resume, promote or roll back a rollout',
        description:
          'At any moment. Paused, the step stays and its time stands; its guards and its metric still roll back. roll_back ends the deployment as failed.',
        params,
        headers: idempotencyHeader,
        body: canaryCommandSchema,
        response: { 200: canaryView, ...bodyProblems(404, 409) },
      },
    },
    async (request) => {
      const row = await find(deps, request, request.params.deployment_id);
      return deps.db.org(row.orgId, (tx) => command(tx, request, row, request.body));
    },
  );
}

/** Refuses a second version that is rolled out under a name. */
export async function requireNoCanary({ db }: HttpDeps, { caller }: FastifyRequest, name: string): Promise<void> {
  const id = await db.org(caller.orgId, (tx) => readCanaryOf(tx, name));
  if (id === null) return;
  const message = `${id} of ${name} is being rolled out: wait for its end, or promote it or roll it back.`;
  throw new ApiError(409, 'canary_in_progress', message);
}

/** The canary of a deployment; null: it has none. */
export async function readCanaryView(tx: Tx, row: DeploymentRow): Promise<CanaryView | null> {
  const canary = await readCanary(tx, row.id);
  return canary && viewOf(tx, canary);
}

async function viewOf(tx: Tx, canary: Canary): Promise<CanaryView> {
  const { deploymentId, name, state, percent, isShadow, startedAt, endedAt } = canary;
  const { canary: plan } = await readSpec<DeploymentSpec>(tx, deploymentId);
  return {
    deployment_id: deploymentId,
    name,
    status: canary.status,
    step: state.step + 1,
    steps: stepsOf(plan!).length,
    percent,
    is_shadow: isShadow,
    live_deployment_id: canary.liveId,
    waits: state.waits,
    metric: canary.metric,
    evidence: await readEvidence(tx, canary),
    reason: canary.reason,
    started_at: iso(startedAt),
    ended_at: isoOrNull(endedAt),
  };
}

/** Up to now; of an ended one up to its end. */
async function readEvidence(tx: Tx, { deploymentId, liveId, isShadow, state, endedAt, evidence }: Canary) {
  if (endedAt || liveId === null) return evidence ?? evidenceOf(state, state.base);
  return evidenceOf(state, await readCounts(tx, { liveId, deploymentId }, isShadow));
}

interface Command {
  action: CanaryAction;
  reason?: string | null | undefined;
}

async function command(
  tx: Tx,
  { caller: { keyId } }: FastifyRequest,
  { orgId, name }: DeploymentRow,
  { action, reason = null }: Command,
): Promise<CanaryView> {
  const jobId = await readCanaryOf(tx, name);
  if (jobId === null) throw notRunning(name);
  const job = { orgId, jobId };
  await lockJob(tx, job);
  await lockName(tx, name);
  const canary = await readCanary(tx, jobId);
  // Its end may have come before the locks.
  if (!canary || canary.endedAt) throw notRunning(name);
  return viewOf(tx, await act(tx, job, canary, { action, by: { keyId, reason } }));
}

interface Decision {
  action: CanaryAction;
  by: ChangedBy;
}

/** Returns the canary as the decision leaves it. */
async function act(tx: Tx, job: JobRef, canary: Canary, { action, by }: Decision): Promise<Canary> {
  const { deploymentId, status, state } = canary;
  const evidence = await readEvidence(tx, canary);
  if (action === 'pause' || action === 'resume') {
    const isPaused = action === 'pause';
    if (status !== (isPaused ? 'running' : 'paused')) return canary;
    const changed = await setPaused(tx, deploymentId, isPaused);
    if (isPaused) await appendEvents(tx, job, [canaryWaits(state.step, 'paused', evidence, uuid())]);
    return changed!;
  }
  const outcome = action === 'promote' ? 'promoted' : 'rolled_back';
  const because = by.reason === null ? '.' : `: ${by.reason}`;
  const reason = `${action === 'promote' ? 'Promoted' : 'Rolled back'} by hand${because}`;
  if (action === 'promote') await take(tx, job, canary, by);
  const ended = await endCanary(tx, deploymentId, { status: outcome, reason, evidence });
  await appendEvents(tx, job, [canaryDecided({ outcome, by: 'person', evidence }, reason)]);
  return ended!;
}

/** Gives the name to the new version; its workflow closes the job. */
async function take(tx: Tx, job: JobRef, { name, liveId }: Canary, by: ChangedBy): Promise<void> {
  const found = await promote(tx, job, { judgedAgainst: liveId, canary: by });
  if (found !== 'promoted') throw notRunning(name);
}

function notRunning(name: string): ApiError {
  return new ApiError(409, 'canary_not_running', `No version of ${name} is being rolled out.`);
}
