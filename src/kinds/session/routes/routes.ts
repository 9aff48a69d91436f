import type { FastifyRequest } from 'fastify';
import {
  promptQuerySchema,
  resultsQuerySchema,
  sessionCreatedSchema,
  sessionHistorySchema,
  sessionPromptSchema,
  sessionResultsSchema,
  sessionSchema,
  sessionListItemSchema,
} from '../contract/session.js';
import { createSessionSchema, type CreateSession } from '../contract/create.js';
import { readConcurrency } from '../../../jobs/store/concurrency.js';
import { readCostBudget } from '../../../jobs/store/cost-budget.js';
import { splitOf } from '../../../core/search/split.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { readHint } from '../../../jobs/store/suggestions.js';
import type { SessionSpec } from '../../../core/jobs/spec.js';
import { createCallParts } from '../../../rollouts/store/call-parts.js';
import { resolveCall } from '../../../rollouts/store/calls.js';
import { isTerminal } from '../../../core/jobs/status.js';
import type { Tx } from '../../../platform/db/db.js';
import type { JobRow, SessionHead } from '../../../jobs/store/jobs.js';
import { readCandidates, readPrompt } from '../../../candidates/store/reads.js';
import { readResent } from '../../../rollouts/store/totals.js';
import { readTraffic } from '../../../rollouts/store/slots.js';
import { readUsage } from '../../../jobs/store/usage.js';
import { sessionEstimate } from '../../../jobs/routes/cost-estimate.js';
import { readAgreement } from '../../../jobs/routes/agreement.js';
import { storedRequest } from '../../../jobs/routes/creates.js';
import type { Again, Draft, HttpKind, JobRoute } from '../../../jobs/routes/kind.js';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { knownPrompt } from '../../../candidates/routes/choice.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { problems, sessionParams } from '../../../platform/http/server/schema.js';
import { sessionForm } from './existing-client.js';
import { registerAblation } from './ablation.js';
import { registerExtension } from './extend.js';
import { readShorterPrompt } from '../../../candidates/routes/shorter-view.js';
import { readSearchDiagnosis } from '../../../diagnosis/routes/read.js';
import { registerLineage } from '../../../candidates/routes/routes.js';
import { registerLevers } from './levers.js';
import { sessionLineage } from './lineage.js';
import { registerSensors } from './sensors.js';
import { plannedView } from '../../../candidates/routes/search-view.js';
import { registerSuggestions } from './suggestions.js';
import { readTelemetry } from './sensors-view.js';
import { promptView, proxyUrls, sessionHistory, sessionListItem, sessionResults, sessionView } from './view.js';
import { sessionSpec } from '../../../jobs/routes/specs.js';
import { sessionRows } from './rows.js';
import { registerRows } from '../../../rows/routes/routes.js';
import { registerReport } from '../../../report/routes/routes.js';

export const sessionKind: HttpKind<SessionHead> = {
  kind: 'session',
  param: 'session_id',
  noun: 'a session',
  name: 'Session',
  tags: ['Sessions'],
  create: {
    body: createSessionSchema,
    formOf: sessionForm,
    created: sessionCreatedSchema,
    keyPath: ['policy_optimization', 'container_api_key'],
    draft: draftSession,
    branch: branchSession,
    promptOf: (spec) => (spec as SessionSpec).initialPrompt,
  },
  list: { summary: 'List sessions, newest first', item: sessionListItemSchema, view: sessionListItem },
  state: { summary: 'Live state', schema: sessionSchema, read: readSession },
  eventPaths: ['/events'],
  patchesAnyKind: false,
  registerOwn,
};

async function draftSession(deps: HttpDeps, request: FastifyRequest, body: CreateSession): Promise<Draft> {
  const { policy_optimization: wanted } = body;
  const checks = await checkedForCaller(deps, request);
  const rows = await sessionRows(checks, request, wanted);
  const spec = sessionSpec(wanted, checks, rows?.of);
  const ofSeeds = (await rows?.check(spec)) ?? [];
  const correlationId = body.correlation_id ?? null;
  return {
    spec,
    correlationId,
    warnings: [...(rows?.of.warnings ?? []), ...ofSeeds],
    request: { policy_optimization: storedRequest(wanted, spec.rows) },
    containerApiKey: wanted.container_api_key,
    prepare: rows?.keep,
    estimate: sessionEstimate(spec),
    answer: (jobId) => ({
      ...(correlationId === null ? {} : { correlation_id: correlationId }),
      ...proxyUrls(jobId, deps.publicUrl),
      ...(rows && { split: splitOf(spec.search) }),
      ...(spec.rollouts !== 'caller' && { planned_comparison: plannedView(spec.search) }),
    }),
  };
}

async function branchSession(
  tx: Tx,
  job: JobRow,
  candidateId: string,
  request: Record<string, unknown>,
): Promise<Again> {
  const invalid = (message: string, code: 'invalid_request' | 'candidate_not_found') =>
    refuse.invalid([{ pointer: '/candidate_id', message }], code);
  const { messages, demos } = await knownPrompt(tx, job.jobId, candidateId, () =>
    invalid('must be a candidate of the session', 'candidate_not_found'),
  );
  if (job.projection.leversMarked) {
    throw invalid('is made of spans that the container marks, which no request can set', 'invalid_request');
  }
  const wanted = request['policy_optimization'] as object;
  return {
    request: { ...request, policy_optimization: { ...wanted, initial_prompt: { messages } } },
    prompt: messages,
    warnings:
      demos.length === 0
        ? []
        : [
            `${candidateId} has ${demos.length} demonstrations, which an initial prompt cannot hold: they are left out.`,
          ],
  };
}

async function readSession(tx: Tx, job: JobRow<SessionHead>, deps: HttpDeps) {
  const read = {
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
  };
  return sessionView(job, read, deps);
}

async function readResults(tx: Tx, job: JobRow<SessionHead>) {
  const { bestCandidateId } = job.projection;
  const candidates = await readCandidates(tx, job.jobId);
  const prompt = bestCandidateId ? await readPrompt(tx, job.jobId, bestCandidateId) : null;
  const baselineId = candidates.find(({ leverVersion }) => leverVersion === 0)?.id;
  const hasChanged = isTerminal(job.status) && baselineId !== undefined && baselineId !== bestCandidateId;
  const usage = await readUsage(tx, job.jobId);
  return {
    candidates,
    prompt,
    baseline: hasChanged ? await readPrompt(tx, job.jobId, baselineId) : null,
    shorter: await readShorterPrompt(tx, job.jobId, candidates, prompt),
    telemetry: await readTelemetry(tx, job),
    usage,
    found: await readSearchDiagnosis(tx, job, { candidates, usage }),
    agreement: await readAgreement(tx, job),
  };
}

function registerOwn(app: App, deps: HttpDeps, route: JobRoute<SessionHead>): void {
  const { path, tags, find } = route;
  const parts = createCallParts();

  app.get(
    `${path}/results`,
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
      const job = await find(request);
      const results = sessionResults(job, await deps.db.org(job.orgId, (tx) => readResults(tx, job)));
      return request.query.include ? results : { ...results, sensor_frames: undefined };
    },
  );

  app.get(
    `${path}/history`,
    {
      schema: {
        tags,
        operationId: 'getSessionHistory',
        summary: 'Best reward by generation',
        params: sessionParams,
        response: { 200: sessionHistorySchema, ...problems(404) },
      },
    },
    async (request) => sessionHistory(await find(request)),
  );

  app.get(
    `${path}/prompt`,
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
      const job = await find(request);
      const correlationId = request.query.correlation_id ?? '';
      const prompt = await deps.db.org(job.orgId, (tx) =>
        resolveCall(tx, { jobId: job.jobId, correlationId, presence: deps.notifications.presence }, parts),
      );
      return promptView(job, prompt, deps);
    },
  );

  registerExtension(app, deps, route);
  registerLineage(app, deps, route, sessionLineage);
  registerAblation(app, deps, route);
  registerRows(app, deps, route);
  registerReport(app, deps, route);
  registerSuggestions(app, deps, route);
  registerLevers(app, deps, route);
  registerSensors(app, deps, route);
}
