import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { jobKinds } from '../../core/jobs/kinds.js';
import { createQuerySchema, listQuerySchema, pageSchema } from '../../contracts/common.js';
import { dryRunSchema } from '../../contracts/dry-run.js';
import {
  createGraphJobBytes,
  createGraphJobSchema,
  graphJobCreatedSchema,
  graphJobSchema,
  graphJobStartedSchema,
  graphJobListItemSchema,
  type CreateGraphJob,
} from '../../contracts/graphs/job.js';
import { commandBodySchema } from '../../contracts/control.js';
import { graphFromJson } from '../../core/graphs/json.js';
import { graphText } from '../../core/graphs/text.js';
import type { GraphSpec } from '../../core/jobs/spec.js';
import { splitOf } from '../../core/search/split.js';
import { readSpec } from '../../storage/jobs/spec.js';
import { isTerminal } from '../../core/jobs/status.js';
import { readGraph } from '../../storage/candidates/candidates.js';
import { readConcurrency } from '../../storage/jobs/concurrency.js';
import { readCostBudget } from '../../storage/jobs/cost-budget.js';
import { insertTasks } from '../../storage/graphs/tasks.js';
import type { GraphHead, ListedJob } from '../../storage/jobs/jobs.js';
import { startPending } from '../../storage/decisions/pending.js';
import { readCandidates } from '../../storage/candidates/reads.js';
import { readResent } from '../../storage/rollouts/totals.js';
import { readUsage } from '../../storage/jobs/usage.js';
import { findJob } from '../jobs/control.js';
import { storedRequest } from '../jobs/clone.js';
import { create, startInTime } from '../jobs/create.js';
import { checkedForCaller } from '../access/provider-keys.js';
import type { App, HttpDeps } from '../deps.js';
import { ApiError } from '../server/errors.js';
import { registerGraphDownload } from './download.js';
import { graphEstimate } from './cost-estimate.js';
import { graphSpec } from './specs.js';
import { graphIds, graphListItem, graphView } from './view.js';
import { registerJobRoutes } from '../jobs/routes.js';
import { labelsOf } from '../jobs/labels.js';
import { listPage } from '../jobs/lists.js';
import { readCostFront } from '../candidates/pareto-view.js';
import { bodyProblems, idempotencyHeader, jobParams, problems } from '../server/schema.js';

const base = jobKinds.graph.path;
const path = `${base}/:job_id` as const;
const tags = ['Graph jobs'];

async function createGraphJob(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  body: CreateGraphJob,
): Promise<FastifyReply> {
  const { spec, tasks, warnings } = graphSpec(body, await checkedForCaller(deps, request));
  const { labels, warnings: ofLabels } = labelsOf(body);
  const pending = !body.auto_start;
  return create(deps, request, reply, {
    labels,
    warnings: [...ofLabels, ...warnings],
    webhookUrl: body.webhook_url,
    kind: 'graph',
    spec,
    request: storedRequest(body),
    algorithm: spec.search.algorithm,
    correlationId: null,
    pending,
    store: (tx, job) => insertTasks(tx, job, tasks),
    location: (jobId) => `${base}/${jobId}`,
    answer: ({ jobId, workflowId }) => ({
      ...graphIds(jobId),
      graph_evolve_job_id: jobId,
      status: pending ? 'pending' : 'running',
      num_tasks: spec.numTasks,
      max_rollouts: body.rollout_budget,
      estimate: graphEstimate(spec, tasks),
      workflow_id: workflowId,
      temporal_url: deps.temporalUrl(workflowId),
    }),
  });
}

/** Graph evolve jobs: a search for a better graph of model calls on a data set of tasks. */
export function registerGraphs(app: App, deps: HttpDeps): void {
  app.post(
    base,
    {
      bodyLimit: createGraphJobBytes,
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: 'createGraphJob',
        summary: 'Create a graph job',
        querystring: createQuerySchema,
        headers: idempotencyHeader,
        body: createGraphJobSchema,
        response: { 200: dryRunSchema, 201: graphJobCreatedSchema, ...bodyProblems(409) },
      },
    },
    async (request, reply) => createGraphJob(deps, request, reply, request.body),
  );

  app.post(
    `${path}/start`,
    {
      schema: {
        tags,
        operationId: 'startGraphJob',
        summary: 'Start a graph job that was created with auto_start false',
        params: jobParams,
        headers: idempotencyHeader,
        body: commandBodySchema,
        response: { 200: graphJobStartedSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request) => {
      const job = await findJob<GraphHead>(deps, request, request.params.job_id, 'graph');
      const before = await deps.db.org(job.orgId, (tx) => startPending(tx, job));
      if (isTerminal(before)) {
        throw new ApiError(409, 'invalid_state', `The job is ${before} and cannot be started.`, {
          extra: { current_status: before },
        });
      }
      if (before === 'pending') await startInTime(deps, job);
      return { ...graphIds(job.jobId), status: before === 'pending' ? 'running' : before };
    },
  );

  app.get(
    base,
    {
      schema: {
        tags,
        operationId: 'listGraphJobs',
        summary: 'List graph jobs, newest first',
        querystring: listQuerySchema,
        response: { 200: pageSchema(graphJobListItemSchema), ...problems(422) },
      },
    },
    (request) =>
      listPage(deps, request.caller.orgId, 'graph', request.query, (job: ListedJob<GraphHead>, cost) =>
        graphListItem(job, cost, deps),
      ),
  );

  app.get(
    path,
    {
      schema: {
        tags,
        operationId: 'getGraphJob',
        summary: 'Status',
        params: jobParams,
        response: { 200: graphJobSchema, ...problems(404) },
      },
    },
    async (request) => {
      const job = await findJob<GraphHead>(deps, request, request.params.job_id, 'graph');
      const read = await deps.db.org(job.orgId, async (tx) => {
        const candidates = await readCandidates(tx, job.jobId);
        return {
          candidates,
          pareto: await readCostFront(tx, job.jobId, candidates),
          usage: await readUsage(tx, job.jobId),
          resent: await readResent(tx, job.jobId),
          cost: await readCostBudget(tx, job.jobId),
          concurrency: await readConcurrency(tx, job.jobId),
          split: splitOf((await readSpec<GraphSpec>(tx, job.jobId)).search),
        };
      });
      return graphView(job, read, deps);
    },
  );

  app.get(
    `${path}/graph.txt`,
    {
      schema: {
        tags,
        operationId: 'getGraphText',
        summary: 'The best graph so far, as readable text',
        params: jobParams,
        response: {
          200: { description: 'The graph.', content: { 'text/plain': { schema: z.string() } } },
          ...problems(404, 409),
        },
      },
    },
    async (request, reply) => {
      const job = await findJob<GraphHead>(deps, request, request.params.job_id, 'graph');
      const { bestCandidateId } = job.projection;
      const graph = bestCandidateId
        ? await deps.db.org(job.orgId, (tx) => readGraph(tx, job.jobId, bestCandidateId))
        : null;
      if (!graph) {
        throw new ApiError(409, 'invalid_state', `The job is ${job.status} and has no evaluated graph yet.`, {
          extra: { current_status: job.status },
        });
      }
      return reply.type('text/plain; charset=utf-8').send(graphText(graphFromJson(graph)));
    },
  );

  registerGraphDownload(app, deps, path, tags);
  registerJobRoutes(app, deps, {
    base,
    param: 'job_id',
    kind: 'graph',
    noun: 'a graph job',
    name: 'GraphJob',
    tags,
    eventPaths: ['/events/stream', '/events'],
    patchesAnyKind: false,
    clone: {
      schemaFor: () => createGraphJobSchema,
      created: graphJobCreatedSchema,
      bodyLimit: createGraphJobBytes,
      create: (request, reply, body) => createGraphJob(deps, request, reply, body as CreateGraphJob),
    },
  });
}
