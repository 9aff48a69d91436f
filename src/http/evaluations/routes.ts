import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { jobKinds } from '../../core/jobs/kinds.js';
import { createQuerySchema, listQuerySchema, pageSchema } from '../../contracts/common.js';
import { dryRunSchema } from '../../contracts/dry-run.js';
import {
  createEvaluationSchema,
  evaluationCreatedSchema,
  evaluationSchemaFor,
  evaluationListItemSchema,
  evaluationResultsQuerySchema,
  evaluationResultsSchema,
  evaluationSchema,
  type EvaluationRequest,
} from '../../contracts/evaluations/evaluation.js';
import type { EvaluationHead } from '../../storage/jobs/jobs.js';
import { readConcurrency } from '../../storage/jobs/concurrency.js';
import { readSeedResults, readTotals } from '../../storage/rollouts/totals.js';
import { readSeedOutputs } from '../../storage/rollouts/outputs.js';
import { readUsage } from '../../storage/jobs/usage.js';
import { resolveCandidate } from '../candidates/choice.js';
import { findJob } from '../jobs/control.js';
import { evaluationEstimate } from '../jobs/cost-estimate.js';
import { readAgreement } from '../jobs/agreement.js';
import { storedRequest } from '../jobs/clone.js';
import { checkedForCaller } from '../access/provider-keys.js';
import { create } from '../jobs/create.js';
import type { App, HttpDeps } from '../deps.js';
import { withRows } from './rows.js';
import { evaluationListItem, evaluationResults, evaluationView } from './view.js';
import { registerJobRoutes } from '../jobs/routes.js';
import { refuse } from '../server/errors.js';
import { labelsOf } from '../jobs/labels.js';
import { listPage } from '../jobs/lists.js';
import { bodyProblems, idempotencyHeader, jobParams, problems, validateForm } from '../server/schema.js';
import { checkEvaluation, evaluationSpec } from '../jobs/specs.js';

const base = jobKinds.evaluation.path;
const tags = ['Evaluations'];

type Body = z.output<typeof createEvaluationSchema>;

async function createEvaluation(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  body: Body,
): Promise<FastifyReply> {
  const { evaluation, path } = unwrap(body);
  const checks = await checkedForCaller(deps, request);
  checkEvaluation(evaluation, path, checks);
  const chosen = await resolveCandidate(deps, request, evaluation.candidate, path);
  const { candidate, rows, warnings, keep } = await withRows(checks, request, evaluation, chosen, path);
  const spec = evaluationSpec(evaluation, candidate, rows);
  const { labels, warnings: ofLabels } = labelsOf(body);
  return create(deps, request, reply, {
    labels,
    warnings: [...ofLabels, ...warnings],
    webhookUrl: body.webhook_url,
    kind: 'evaluation',
    spec,
    request: storedRequest(evaluation, spec.rows),
    algorithm: null,
    correlationId: null,
    containerApiKey: evaluation.container_api_key,
    prepare: keep,
    location: (jobId) => `${base}/${jobId}`,
    answer: ({ jobId, workflowId }) => ({
      job_id: jobId,
      status: 'running',
      estimate: evaluationEstimate(spec),
      workflow_id: workflowId,
      temporal_url: deps.temporalUrl(workflowId),
    }),
  });
}

/** Offline evaluation jobs: a policy on a list of seeds in the caller's container. */
export function registerEvaluations(app: App, deps: HttpDeps): void {
  app.post(
    base,
    {
      config: { idempotency: 'create' },
      validatorCompiler: validateForm(evaluationSchemaFor),
      schema: {
        tags,
        operationId: 'createEvaluation',
        summary: 'Create an evaluation',
        querystring: createQuerySchema,
        headers: idempotencyHeader,
        body: createEvaluationSchema,
        response: { 200: dryRunSchema, 201: evaluationCreatedSchema, ...bodyProblems(409) },
      },
    },
    async (request, reply) => createEvaluation(deps, request, reply, request.body),
  );

  app.get(
    base,
    {
      schema: {
        tags,
        operationId: 'listEvaluations',
        summary: 'List evaluations',
        querystring: listQuerySchema,
        response: { 200: pageSchema(evaluationListItemSchema), ...problems(422) },
      },
    },
    (request) =>
      listPage<EvaluationHead, z.output<typeof evaluationListItemSchema>>(
        deps,
        request.caller.orgId,
        'evaluation',
        request.query,
        (job, cost) => evaluationListItem(job, cost, deps),
      ),
  );

  app.get(
    `${base}/:job_id`,
    {
      schema: {
        tags,
        operationId: 'getEvaluation',
        summary: 'Status',
        params: jobParams,
        response: { 200: evaluationSchema, ...problems(404) },
      },
    },
    async (request) => {
      const job = await findJob<EvaluationHead>(deps, request, request.params.job_id, 'evaluation');
      const read = await deps.db.org(job.orgId, async (tx) => ({
        totals: await readTotals(tx, job.jobId),
        agreement: await readAgreement(tx, job),
        usage: await readUsage(tx, job.jobId),
        concurrency: await readConcurrency(tx, job.jobId),
      }));
      return evaluationView(job, read, deps);
    },
  );

  app.get(
    `${base}/:job_id/results`,
    {
      schema: {
        tags,
        operationId: 'getEvaluationResults',
        summary: 'Results, seed by seed',
        description: 'include=outputs adds the texts of each result, at most `limit` from `offset` on.',
        params: jobParams,
        querystring: evaluationResultsQuerySchema,
        response: { 200: evaluationResultsSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const page = outputPage(request.query);
      const job = await findJob<EvaluationHead>(deps, request, request.params.job_id, 'evaluation');
      const read = await deps.db.org(job.orgId, async (tx) => ({
        totals: await readTotals(tx, job.jobId),
        agreement: await readAgreement(tx, job),
        results: page
          ? await readSeedOutputs(tx, job.jobId, job.spec.rows ?? null, page)
          : await readSeedResults(tx, job.jobId),
      }));
      return evaluationResults(job, read);
    },
  );

  registerJobRoutes(app, deps, {
    base,
    param: 'job_id',
    kind: 'evaluation',
    noun: 'an evaluation',
    name: 'Evaluation',
    tags,
    eventPaths: ['/events/stream', '/events'],
    patchesAnyKind: true,
    clone: {
      schemaFor: evaluationSchemaFor,
      created: evaluationCreatedSchema,
      keyPath: ['container_api_key'],
      create: (request, reply, body) => createEvaluation(deps, request, reply, body as Body),
    },
  });
}

/** The page of results with outputs; null: all results without. */
function outputPage({ include, limit, offset }: z.output<typeof evaluationResultsQuerySchema>) {
  if (include) return { limit: limit ?? 100, offset: offset ?? 0 };
  const given = Object.entries({ limit, offset }).filter(([, value]) => value !== undefined);
  const errors = given.map(([name]) => ({ pointer: `/${name}`, message: 'requires include=outputs' }));
  if (errors.length > 0) throw refuse.invalid(errors);
  return null;
}

function unwrap(body: Body): { evaluation: EvaluationRequest; path: string[] } {
  return 'config' in body ? { evaluation: body.config, path: ['config'] } : { evaluation: body, path: [] };
}
