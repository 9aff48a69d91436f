import type { FastifyReply, FastifyRequest } from 'fastify';
import { jobKinds } from '../../core/jobs/kinds.js';
import { createQuerySchema, listQuerySchema, pageSchema } from '../../contracts/common.js';
import { dryRunSchema } from '../../contracts/dry-run.js';
import {
  promptQuerySchema,
  resultsQuerySchema,
  sessionCreatedSchema,
  sessionHistorySchema,
  sessionPromptSchema,
  sessionResultsSchema,
  sessionSchema,
  sessionListItemSchema,
} from '../../contracts/sessions/session.js';
import { createSessionSchema, sessionSchemaFor, type CreateSession } from '../../contracts/sessions/create.js';
import { extendSessionSchema, sessionExtendedSchema } from '../../contracts/sessions/extension.js';
import { readConcurrency } from '../../storage/jobs/concurrency.js';
import { readCostBudget } from '../../storage/jobs/cost-budget.js';
import { splitOf } from '../../core/search/split.js';
import { readSpec } from '../../storage/jobs/spec.js';
import { readHint } from '../../storage/jobs/suggestions.js';
import type { SessionSpec } from '../../core/jobs/spec.js';
import { createCallParts } from '../../storage/rollouts/call-parts.js';
import { resolveCall } from '../../storage/rollouts/calls.js';
import type { ListedJob, SessionHead } from '../../storage/jobs/jobs.js';
import { readCandidates, readPrompt } from '../../storage/candidates/reads.js';
import { readResent } from '../../storage/rollouts/totals.js';
import { readTraffic } from '../../storage/rollouts/slots.js';
import { readUsage } from '../../storage/jobs/usage.js';
import { findJob } from '../jobs/control.js';
import { sessionEstimate } from '../jobs/cost-estimate.js';
import { readAgreement } from '../jobs/agreement.js';
import { storedRequest } from '../jobs/clone.js';
import { checkedForCaller } from '../access/provider-keys.js';
import { create } from '../jobs/create.js';
import type { App, HttpDeps } from '../deps.js';
import { registerJobRoutes } from '../jobs/routes.js';
import { idFields } from '../jobs/view.js';
import { labelsOf } from '../jobs/labels.js';
import { listPage } from '../jobs/lists.js';
import { bodyProblems, idempotencyHeader, problems, sessionParams, validateForm } from '../server/schema.js';
import { extendSession } from './extend.js';
import { registerSuggestions } from './suggestions.js';
import { readTelemetry } from './sensors-view.js';
import { promptView, proxyUrls, sessionHistory, sessionListItem, sessionResults, sessionView } from './view.js';
import { sessionSpec, unwrapSession } from '../jobs/specs.js';
import { sessionRows } from './rows.js';

const base = jobKinds.session.path;
const sessionPath = `${base}/:session_id`;
const tags = ['Sessions'];

async function createSession(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  body: CreateSession,
): Promise<FastifyReply> {
  const { request: wanted, path } = unwrapSession(body);
  const checks = await checkedForCaller(deps, request);
  const rows = await sessionRows(checks, request, wanted, path);
  const spec = sessionSpec(wanted, path, checks, rows?.of);
  const ofSeeds = (await rows?.check(spec)) ?? [];
  const correlationId = body.correlation_id ?? null;
  const { labels, warnings: ofLabels } = labelsOf(body);
  return create(deps, request, reply, {
    labels,
    warnings: [...ofLabels, ...(rows?.of.warnings ?? []), ...ofSeeds],
    webhookUrl: body.webhook_url,
    kind: 'session',
    spec,
    request: { policy_optimization: storedRequest(wanted, spec.rows) },
    algorithm: spec.search.algorithm,
    correlationId,
    containerApiKey: wanted.container_api_key,
    prepare: rows?.keep,
    location: (jobId) => `${base}/${jobId}`,
    answer: ({ jobId, workflowId }) => ({
      ...idFields(jobId),
      status: 'running',
      ...(correlationId === null ? {} : { correlation_id: correlationId }),
      ...proxyUrls(jobId, deps.publicUrl),
      estimate: sessionEstimate(spec),
      ...(rows && { split: splitOf(spec.search) }),
      workflow_id: workflowId,
      temporal_url: deps.temporalUrl(workflowId),
    }),
  });
}

/** Policy optimization sessions: a search for a better prompt against the caller's container. */
export function registerSessions(app: App, deps: HttpDeps): void {
  const parts = createCallParts();
  app.post(
    base,
    {
      config: { idempotency: 'create' },
      validatorCompiler: validateForm(sessionSchemaFor),
      schema: {
        tags,
        operationId: 'createSession',
        summary: 'Create a session',
        querystring: createQuerySchema,
        headers: idempotencyHeader,
        body: createSessionSchema,
        response: { 200: dryRunSchema, 201: sessionCreatedSchema, ...bodyProblems(409) },
      },
    },
    async (request, reply) => createSession(deps, request, reply, request.body),
  );

  app.get(
    base,
    {
      schema: {
        tags,
        operationId: 'listSessions',
        summary: 'List sessions, newest first',
        querystring: listQuerySchema,
        response: { 200: pageSchema(sessionListItemSchema), ...problems(422) },
      },
    },
    (request) =>
      listPage(deps, request.caller.orgId, 'session', request.query, (job: ListedJob<SessionHead>, cost) =>
        sessionListItem(job, cost, deps),
      ),
  );

  app.get(
    sessionPath,
    {
      schema: {
        tags,
        operationId: 'getSession',
        summary: 'Live state',
        params: sessionParams,
        response: { 200: sessionSchema, ...problems(404) },
      },
    },
    async (request) => {
      const job = await findJob<SessionHead>(deps, request, request.params.session_id, 'session');
      const read = await deps.db.org(job.orgId, async (tx) => ({
        candidates: await readCandidates(tx, job.jobId),
        telemetry: await readTelemetry(tx, job),
        usage: await readUsage(tx, job.jobId),
        agreement: await readAgreement(tx, job),
        hint: await readHint(tx, job.jobId),
        resent: await readResent(tx, job.jobId),
        cost: await readCostBudget(tx, job.jobId),
        concurrency: await readConcurrency(tx, job.jobId),
        traffic: await readTraffic(tx, job.jobId),
        split: job.spec.rows ? splitOf((await readSpec<SessionSpec>(tx, job.jobId)).search) : null,
      }));
      return sessionView(job, read, deps);
    },
  );

  app.get(
    `${sessionPath}/results`,
    {
      schema: {
        tags,
        operationId: 'getSessionResults',
        summary: 'Best prompt and history',
        params: sessionParams,
        querystring: resultsQuerySchema,
        response: { 200: sessionResultsSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const job = await findJob<SessionHead>(deps, request, request.params.session_id, 'session');
      const { bestCandidateId } = job.projection;
      const read = await deps.db.org(job.orgId, async (tx) => ({
        candidates: await readCandidates(tx, job.jobId),
        telemetry: await readTelemetry(tx, job),
        usage: await readUsage(tx, job.jobId),
        agreement: await readAgreement(tx, job),
        prompt: bestCandidateId ? await readPrompt(tx, job.jobId, bestCandidateId) : null,
      }));
      const results = sessionResults(job, read);
      return request.query.include ? results : { ...results, sensor_frames: undefined };
    },
  );

  app.get(
    `${sessionPath}/history`,
    {
      schema: {
        tags,
        operationId: 'getSessionHistory',
        summary: 'Best reward by generation',
        params: sessionParams,
        response: { 200: sessionHistorySchema, ...problems(404) },
      },
    },
    async (request) => sessionHistory(await findJob<SessionHead>(deps, request, request.params.session_id, 'session')),
  );

  app.get(
    `${sessionPath}/prompt`,
    {
      schema: {
        tags,
        operationId: 'getSessionPrompt',
        summary: 'Proxy URLs and their prompt',
        params: sessionParams,
        querystring: promptQuerySchema,
        response: { 200: sessionPromptSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const job = await findJob<SessionHead>(deps, request, request.params.session_id, 'session');
      const correlationId = request.query.correlation_id ?? '';
      const prompt = await deps.db.org(job.orgId, (tx) =>
        resolveCall(tx, { jobId: job.jobId, correlationId, presence: deps.notifications.presence }, parts),
      );
      return promptView(job, prompt, deps);
    },
  );

  app.post(
    `${sessionPath}/extend`,
    {
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: 'extendSession',
        summary: 'Go on after the end with larger limits',
        params: sessionParams,
        headers: idempotencyHeader,
        body: extendSessionSchema,
        response: { 200: sessionExtendedSchema, ...bodyProblems(404, 409, 410) },
      },
    },
    async (request, reply) => {
      const job = await findJob<SessionHead>(deps, request, request.params.session_id, 'session');
      return extendSession(deps, request, reply, job, request.body ?? {});
    },
  );

  registerSuggestions(app, deps);

  registerJobRoutes(app, deps, {
    base,
    param: 'session_id',
    kind: 'session',
    noun: 'a session',
    name: 'Session',
    tags,
    eventPaths: ['/events'],
    patchesAnyKind: false,
    clone: {
      schemaFor: sessionSchemaFor,
      created: sessionCreatedSchema,
      keyPath: ['policy_optimization', 'container_api_key'],
      create: (request, reply, body) => createSession(deps, request, reply, body as CreateSession),
    },
  });
}
