import { z } from 'zod';
import {
  createDeploymentSchema,
  deploymentListSchema,
  deploymentQuerySchema,
  deploymentSchema,
  deploymentStatusSchema,
  rolledBackSchema,
} from '../../contracts/deployments/deployment.js';
import { noQuerySchema, warningsSchema } from '../../contracts/common.js';
import { commandBodySchema, deploymentChangeSchema } from '../../contracts/control.js';
import { deploymentStatsSchema } from '../../contracts/deployments/stats.js';
import type { DeploymentSpec } from '../../core/jobs/spec.js';
import { readCounters } from '../../storage/deployments/counters.js';
import {
  deleteDeployment,
  insertDeployment,
  listDeployments,
  readDeployment,
  rollBack,
  type DeploymentRow,
} from '../../storage/deployments/deployments.js';
import { readOpenEvaluation } from '../../storage/deployments/gate.js';
import { checkedForCaller } from '../access/provider-keys.js';
import { create } from '../jobs/create.js';
import type { App, HttpDeps } from '../deps.js';
import { gateSpec } from './gate.js';
import { resolveSource } from './source.js';
import { completionUrls, deploymentsBase as base, deploymentSummary, deploymentView } from './view.js';
import { statsView } from './stats-view.js';
import { ApiError, refuse } from '../server/errors.js';
import { createEventReader } from '../jobs/event-reader.js';
import { events, eventsRoute } from '../jobs/events.js';
import { findJob } from '../jobs/control.js';
import { labelsOf, mark } from '../jobs/labels.js';
import { bodyProblems, idempotencyHeader, problems } from '../server/schema.js';
import { registerModels } from './models.js';
import { registerSnapshots } from './snapshots.js';

const tags = ['Deployments'];
const params = z.object({
  deployment_id: z.string().describe('Its id, or its name: the deployment that serves it, else the newest of it.'),
});
const liveParams = z.object({ deployment_id: z.string().describe('Its id, or the name that it serves.') });
const path = `${base}/:deployment_id`;

const deploymentStateSchema = z.object({ id: z.string(), status: deploymentStatusSchema });

const createdSchema = z.object({
  id: z.string(),
  name: z.string(),
  status: deploymentStatusSchema,
  snapshot_id: z.null(),
  ...deploymentSchema.pick({ chat_completions_url: true, name_chat_completions_url: true }).shape,
  warnings: warningsSchema.optional(),
  workflow_id: z.string(),
  temporal_url: z.string().nullable(),
});

/** Deployments: snapshots served under a name. `http/inference/deployment.ts` answers for them. */
export function registerDeployments(app: App, deps: HttpDeps): void {
  const { db } = deps;
  const read = createEventReader(db);
  const find = async (orgId: string, id: string): Promise<DeploymentRow> => {
    const row = await db.org(orgId, (tx) => readDeployment(tx, id));
    if (!row) throw refuse.notFound(`deployment ${id.slice(0, 100)}`);
    return row;
  };

  /** For a change, a name that serves nothing stands for no deployment. */
  const findServing = async (orgId: string, ref: string): Promise<DeploymentRow> => {
    const row = await find(orgId, ref);
    if (row.id === ref || row.live) return row;
    throw refuse.notFound(`deployment that serves ${ref.slice(0, 100)}`);
  };

  app.post(
    base,
    {
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: 'createDeployment',
        summary: 'Create a deployment',
        description:
          "Freezes a session's best prompt, a graph job's best graph or the given messages; evaluates it by the gate, if any; then serves its name with it.",
        querystring: noQuerySchema,
        headers: idempotencyHeader,
        body: createDeploymentSchema,
        response: { 201: createdSchema, ...bodyProblems(409) },
      },
    },
    async (request, reply) => {
      const { name, source: requested, gate: gateRequest, webhook_url: webhookUrl, ...labels } = request.body;
      const resolved = await resolveSource(deps, request, requested);
      const { judged, keep } = gateRequest
        ? await gateSpec(await checkedForCaller(deps, request), request, gateRequest, resolved)
        : { judged: { source: resolved.source, gate: null, container: null } };
      const spec: DeploymentSpec = { kind: 'deployment', name, ...judged };
      return create(deps, request, reply, {
        ...labelsOf(labels),
        webhookUrl,
        kind: 'deployment',
        spec,
        algorithm: null,
        correlationId: null,
        containerApiKey: gateRequest?.container_api_key,
        prepare: keep,
        store: (tx, job) => insertDeployment(tx, job, name),
        location: (id) => `${base}/${id}/status`,
        answer: ({ jobId: id, workflowId }) => ({
          ...{ id, name, status: 'pending', snapshot_id: null },
          ...completionUrls({ id, name }, deps.publicUrl),
          workflow_id: workflowId,
          temporal_url: deps.temporalUrl(workflowId),
        }),
      });
    },
  );

  app.get(
    base,
    {
      schema: {
        tags,
        operationId: 'listDeployments',
        summary: 'List deployments, newest first',
        querystring: deploymentQuerySchema,
        response: { 200: deploymentListSchema, ...problems(422) },
      },
    },
    async ({ caller: { orgId }, query: { tag, ...page } }) => {
      const rows = await db.org(orgId, (tx) => listDeployments(tx, { ...page, tags: [tag ?? []].flat() }));
      return { deployments: rows.map(deploymentSummary) };
    },
  );

  app.patch(
    path,
    {
      schema: {
        tags,
        operationId: 'updateDeployment',
        summary: 'Label or archive a deployment',
        params: liveParams,
        body: deploymentChangeSchema,
        response: { 200: deploymentStateSchema, ...bodyProblems(404) },
      },
    },
    async (request) => {
      const { id, orgId, status } = await findServing(request.caller.orgId, request.params.deployment_id);
      await mark(deps, { orgId, jobId: id }, request.body);
      return { id, status };
    },
  );

  for (const [url, operationId, summary] of [
    [path, 'getDeployment', 'A deployment'],
    [`${path}/status`, 'getDeploymentStatus', 'The same: its status'],
  ] as const) {
    app.get(
      url,
      { schema: { tags, operationId, summary, params, response: { 200: deploymentSchema, ...problems(404) } } },
      async (request) => {
        const row = await find(request.caller.orgId, request.params.deployment_id);
        const isJudged = row.status === 'building' && row.spec.gate !== null;
        const evaluation = isJudged ? await db.org(row.orgId, (tx) => readOpenEvaluation(tx, row.id)) : null;
        return deploymentView(row, evaluation, deps);
      },
    );
  }

  app.get(
    `${path}/stats`,
    {
      schema: {
        tags,
        operationId: 'getDeploymentStats',
        summary: 'Request statistics since it went live',
        params,
        response: { 200: deploymentStatsSchema, ...problems(404) },
      },
    },
    async (request) => {
      const { id, orgId, liveAt } = await find(request.caller.orgId, request.params.deployment_id);
      return statsView(id, await db.org(orgId, (tx) => readCounters(tx, id)), liveAt);
    },
  );

  app.get(
    `${path}/events`,
    {
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'listDeploymentEvents',
        summary: 'Events of its build, as a stream or as JSON',
        params,
        ...eventsRoute,
      },
    },
    async (request, reply) => {
      const { id } = await find(request.caller.orgId, request.params.deployment_id);
      return events(deps, request, reply, await findJob(deps, request, id, 'deployment'), request.query, read);
    },
  );

  app.post(
    `${path}/rollback`,
    {
      schema: {
        tags,
        operationId: 'rollBackDeployment',
        summary: 'Roll the name back to the previous deployment',
        params: liveParams,
        headers: idempotencyHeader,
        body: commandBodySchema,
        response: { 200: rolledBackSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request) => {
      const row = await findServing(request.caller.orgId, request.params.deployment_id);
      const result = await db.org(row.orgId, (tx) => rollBack(tx, row));
      if (result === 'not_live') throw notLive(row);
      if (result === 'none_before') throw noneBefore(row);
      return { name: row.name, id: result.id, snapshot_id: result.snapshotId, rolled_back_id: row.id };
    },
  );

  app.delete(
    path,
    {
      schema: {
        tags,
        operationId: 'deleteDeployment',
        summary: 'Delete a deployment',
        description: 'Its snapshot stays. If it is live, its name serves nothing until another deployment takes it.',
        params: liveParams,
        response: { 204: z.undefined().describe('Deleted.'), ...problems(404, 422) },
      },
    },
    async (request, reply) => {
      const row = await findServing(request.caller.orgId, request.params.deployment_id);
      await db.org(row.orgId, (tx) => deleteDeployment(tx, row.id));
      if (row.status === 'pending' || row.status === 'building') await stopBuilding(deps, row);
      return reply.code(204).send();
    },
  );

  registerSnapshots(app, deps);
  registerModels(app, deps);
}

/** If Temporal is unreachable, the reconciler cancels it. */
async function stopBuilding({ commander, log }: HttpDeps, { id, workflowId }: DeploymentRow): Promise<void> {
  await commander.cancel({ workflowId }).catch((error: unknown) => {
    log.warn(
      { err: error, deployment_id: id },
      'cancelling the build of a deleted deployment failed; the reconciler will repeat it',
    );
  });
}

function notLive({ id, name, status }: DeploymentRow): ApiError {
  return new ApiError(
    409,
    'deployment_not_live',
    `Deployment ${id} does not serve ${name}; there is nothing to roll back.`,
    {
      extra: { current_status: status },
    },
  );
}

function noneBefore({ id, name, status }: DeploymentRow): ApiError {
  const detail = `${name} has no earlier deployment that still exists. Delete ${id} to stop serving the name.`;
  return new ApiError(409, 'nothing_before', detail, { extra: { current_status: status } });
}
