import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  createGraphJobBytes,
  createGraphJobSchema,
  graphJobCreatedSchema,
  graphJobSchema,
  graphJobStartedSchema,
  graphJobListItemSchema,
  type CreateGraphJob,
} from '../contract/job.js';
import { commandBodySchema } from '../../../contracts/control.js';
import { graphFromJson } from '../../../core/graphs/json.js';
import { graphText } from '../../../core/graphs/text.js';
import type { GraphSpec } from '../../../core/jobs/spec.js';
import { splitOf } from '../../../core/search/split.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { isTerminal } from '../../../core/jobs/status.js';
import { readGraph } from '../../../candidates/store/candidates.js';
import { readConcurrency } from '../../../jobs/store/concurrency.js';
import { readCostBudget } from '../../../jobs/store/cost-budget.js';
import { comparableOf } from '../../../core/jobs/instances.js';
import { insertTasks, readTasksDigest } from '../store/tasks.js';
import type { Tx } from '../../../platform/db/db.js';
import { setComparable, type GraphHead, type JobRow } from '../../../jobs/store/jobs.js';
import { startPending } from '../../../jobs/store/decisions/pending.js';
import { readCandidates } from '../../../candidates/store/reads.js';
import { readResent } from '../../../rollouts/store/totals.js';
import { readUsage } from '../../../jobs/store/usage.js';
import { storedRequest } from '../../../jobs/routes/creates.js';
import type { Again, Draft, HttpKind, JobRoute } from '../../../jobs/routes/kind.js';
import { whyUnstartable, startInTime } from '../../../jobs/routes/create.js';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { registerGraphDownload } from './download.js';
import { plannedView } from '../../../candidates/routes/search-view.js';
import { graphEstimate } from './cost-estimate.js';
import { readSearchDiagnosis } from '../../../diagnosis/routes/read.js';
import { registerLineage } from '../../../candidates/routes/routes.js';
import { graphLineage } from './lineage.js';
import { withTasks } from './row-tasks.js';
import { graphSpec } from './specs.js';
import { graphIds, graphListItem, graphView } from './view.js';
import { readCostFront } from '../../../candidates/routes/pareto-view.js';
import { registerRows } from '../../../rows/routes/routes.js';
import { bodyProblems, idempotencyHeader, jobParams, problems } from '../../../platform/http/server/schema.js';
import { registerReport } from '../../../report/routes/routes.js';

export const graphKind: HttpKind<GraphHead> = {
  kind: 'graph',
  param: 'job_id',
  noun: 'a graph job',
  name: 'GraphJob',
  tags: ['Graph jobs'],
  create: {
    body: createGraphJobSchema,
    created: graphJobCreatedSchema,
    bodyLimit: createGraphJobBytes,
    draft: draftGraphJob,
    branch: branchGraphJob,
    promptOf: () => null,
  },
  list: { summary: 'List graph jobs, newest first', item: graphJobListItemSchema, view: graphListItem },
  state: { summary: 'Status', schema: graphJobSchema, read: readGraphJob },
  eventPaths: ['/events/stream', '/events'],
  patchesAnyKind: false,
  registerOwn,
};

async function draftGraphJob(deps: HttpDeps, request: FastifyRequest, body: CreateGraphJob): Promise<Draft> {
  const checks = await checkedForCaller(deps, request);
  const source = await withTasks(checks, request.caller.orgId, body);
  const { spec, tasks, warnings } = graphSpec(source, checks);
  return {
    spec,
    warnings: [...source.warnings, ...warnings],
    request: storedRequest(body),
    copiedBytes: source.copiedBytes,
    pending: !body.auto_start,
    prepare: source.keep,
    store: async (tx, job) => {
      await insertTasks(tx, job, tasks);
      await setComparable(tx, job.jobId, comparableOf(job.jobId, spec, await readTasksDigest(tx, job.jobId)));
    },
    estimate: graphEstimate(spec, tasks),
    answer: (jobId) => ({
      graph_evolve_job_id: jobId,
      num_tasks: spec.numTasks,
      max_rollouts: body.rollout_budget,
      planned_comparison: plannedView(spec.search),
    }),
  };
}

async function branchGraphJob(
  tx: Tx,
  { jobId }: JobRow,
  candidateId: string,
  request: Record<string, unknown>,
): Promise<Again> {
  const graph = await readGraph(tx, jobId, candidateId);
  if (graph === null) {
    const message = 'must be a candidate of the graph job';
    throw refuse.invalid([{ pointer: '/candidate_id', message }], 'candidate_not_found');
  }
  const { initial_graph_id: _single, ...kept } = request;
  return { request: { ...kept, initial_graph: graph }, prompt: null, warnings: [] };
}

async function readGraphJob(tx: Tx, job: JobRow<GraphHead>, deps: HttpDeps) {
  const candidates = await readCandidates(tx, job.jobId);
  const usage = await readUsage(tx, job.jobId);
  const read = {
    candidates,
    found: await readSearchDiagnosis(tx, job, { candidates, usage }),
    pareto: await readCostFront(tx, job.jobId, candidates),
    usage,
    resent: await readResent(tx, job.jobId),
    cost: await readCostBudget(tx, job.jobId),
    concurrency: await readConcurrency(tx, job.jobId),
    split: splitOf((await readSpec<GraphSpec>(tx, job.jobId)).search),
  };
  return graphView(job, read, deps);
}

function registerOwn(app: App, deps: HttpDeps, route: JobRoute<GraphHead>): void {
  const { path, tags, find } = route;

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
      const job = await find(request);
      const unstartable = await whyUnstartable(deps);
      if (unstartable) throw unstartable;
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
      const job = await find(request);
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

  registerLineage(app, deps, route, graphLineage);
  registerRows(app, deps, route);
  registerReport(app, deps, route);
  registerGraphDownload(app, deps, route);
}
