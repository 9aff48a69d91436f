import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  createDeploymentSchema,
  deploymentListSchema,
  deploymentQuerySchema,
  deploymentSchema,
  deploymentStatusSchema,
} from '../contract/deployment.js';
import { noQuerySchema, warningsSchema } from '../../../contracts/common.js';
import { insertDeployment, listDeployments } from '../store/deployments.js';
import { readOpenEvaluation } from '../store/gate.js';
import { changeSettings } from '../store/settings.js';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import { create, type Creation } from '../../../jobs/routes/create.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { readCanaryView, registerCanary, requireNoCanary } from './canary.js';
import { canaryPlan } from './canary-plan.js';
import { registerChanges } from './changes.js';
import { registerFeedback } from './feedback.js';
import { find, path, tags } from './find.js';
import { registerPrompt } from './prompt.js';
import { registerRegistry } from './registry.js';
import { gateSpec } from './gate.js';
import { registerLoggedRequests } from './logged-requests.js';
import { resolveSource } from './source.js';
import { completionUrls, deploymentsBase as base, deploymentSummary, deploymentView } from './view.js';
import { requireJudge, settingsOf } from './settings.js';
import { registerStats } from './stats.js';
import { events, eventsRoute } from '../../../jobs/routes/events.js';
import { findJob } from '../../../jobs/routes/control.js';
import { labelsOf } from '../../../jobs/routes/labels.js';
import { retirementWarnings } from '../../../jobs/routes/warnings.js';
import { bodyProblems, idempotencyHeader, problems } from '../../../platform/http/server/schema.js';
import { judgesOf, scorerSpec } from '../../../scorers/index.js';
import { registerModels } from './models.js';
import { registerSnapshots } from './snapshots.js';

const params = z.object({
  deployment_id: z
    .string()
    .describe('Its id, NAME@LABEL or NAME@VERSION, or its name: the deployment that serves it, else the newest of it.'),
});

type CreateDeployment = z.output<typeof createDeploymentSchema>;

const createdSchema = z.object({
  id: z.string(),
  name: z.string(),
  status: deploymentStatusSchema,
  version: z.int(),
  snapshot_id: z.null(),
  ...deploymentSchema.pick({ chat_completions_url: true, name_chat_completions_url: true }).shape,
  warnings: warningsSchema.optional(),
  workflow_id: z.string(),
  temporal_url: z.string().nullable(),
});

/** Deployments: snapshots served under a name. `models/routes/deployments` answers for them. */
export function registerDeployments(app: App, deps: HttpDeps): void {
  registerCollection(app, deps);
  registerReads(app, deps);
  registerChanges(app, deps);
  registerCanary(app, deps);
  registerRegistry(app, deps);
  registerPrompt(app, deps);
  registerFeedback(app, deps);
  registerStats(app, deps);
  registerLoggedRequests(app, deps);
  registerSnapshots(app, deps);
  registerModels(app, deps);
}

function registerCollection(app: App, deps: HttpDeps): void {
  app.post(
    base,
    {
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: 'createDeployment',
        summary: 'Create a deployment',
        description:
          "Freezes a session's best prompt, a graph job's best graph, the content of a deployment or the given messages; evaluates it by the gate, if any; then serves its name with it.",
        querystring: noQuerySchema,
        headers: idempotencyHeader,
        body: createDeploymentSchema,
        response: { 201: createdSchema, ...bodyProblems(409) },
      },
    },
    async (request, reply) => create(deps, request, reply, await creationOf(deps, request, request.body)),
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
    async ({ caller: { orgId }, query: { tag, created_by: createdBy, ...page } }) => {
      const tags = [tag ?? []].flat();
      const rows = await deps.db.org(orgId, (tx) => listDeployments(tx, { ...page, createdBy, tags }));
      return { deployments: rows.map(deploymentSummary) };
    },
  );
}

/** The creation of a deployment from a validated body. */
async function creationOf(
  deps: HttpDeps,
  request: FastifyRequest,
  { name, source: requested, gate: gateRequest, webhook_url: webhookUrl, ...more }: CreateDeployment,
): Promise<Creation> {
  const { log, fallbacks, limits, judge, rollout, reason = null, ...labels } = more;
  const resolved = await resolveSource(deps, request, requested);
  const served = requested.policy ? [requested.policy] : resolved.models;
  const settings = await settingsOf(deps, request, { log, fallbacks, limits, judge }, served);
  const { judged, keep } = gateRequest
    ? await gateSpec(await checkedForCaller(deps, request), request, gateRequest, resolved)
    : { judged: { source: resolved.source, gate: null, container: null } };
  if (rollout) await requireNoCanary(deps, request, name);
  const { labels: kept, warnings } = labelsOf(labels);
  const judges = settings.judge?.scorer ? judgesOf(scorerSpec(settings.judge.scorer, '')) : [];
  const models = [...resolved.models, ...(fallbacks?.models ?? []), ...judges];
  return {
    labels: kept,
    warnings: [...warnings, ...retirementWarnings(models)],
    webhookUrl,
    kind: 'deployment',
    spec: { kind: 'deployment', name, ...judged, ...(rollout && { canary: canaryPlan(rollout) }) },
    algorithm: null,
    correlationId: null,
    containerApiKey: gateRequest?.container_api_key,
    prepare: keep,
    async store(tx, job) {
      const version = await insertDeployment(tx, job, { name, reason });
      requireJudge(await changeSettings(tx, name, settings));
      return { version };
    },
    location: (id) => `${base}/${id}/status`,
    answer: ({ jobId: id, workflowId }) => ({
      id,
      name,
      status: 'pending',
      snapshot_id: null,
      ...completionUrls({ id, name }, deps.publicUrl),
      workflow_id: workflowId,
      temporal_url: deps.temporalUrl(workflowId),
    }),
  };
}

function registerReads(app: App, deps: HttpDeps): void {
  for (const [url, operationId, summary] of [
    [path, 'getDeployment', 'A deployment'],
    [`${path}/status`, 'getDeploymentStatus', 'The same: its status'],
  ] as const) {
    app.get(
      url,
      { schema: { tags, operationId, summary, params, response: { 200: deploymentSchema, ...problems(404) } } },
      async (request) => {
        const row = await find(deps, request, request.params.deployment_id);
        const isJudged = row.status === 'building' && row.spec.gate !== null;
        const found = await deps.db.org(row.orgId, async (tx) => ({
          evaluation: isJudged ? await readOpenEvaluation(tx, row.id) : null,
          canary: row.spec.canary ? await readCanaryView(tx, row) : null,
        }));
        return deploymentView(row, found, deps);
      },
    );
  }

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
      const { id } = await find(deps, request, request.params.deployment_id);
      return events(deps, request, reply, await findJob(deps, request, id, 'deployment'), request.query);
    },
  );
}
