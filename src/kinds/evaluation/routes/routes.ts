import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import {
  createEvaluationSchema,
  evaluationCreatedSchema,
  evaluationSchemaFor,
  evaluationListItemSchema,
  evaluationResultsQuerySchema,
  evaluationResultsSchema,
  evaluationSchema,
  type EvaluationRequest,
} from '../contract/evaluation.js';
import { renderPrompt } from '../../../core/prompts/demos.js';
import type { Message } from '../../../core/prompts/message.js';
import type { EvaluationSpec, StoredSpec } from '../../../core/jobs/spec.js';
import type { Tx } from '../../../platform/db/db.js';
import type { EvaluationHead, JobRow } from '../../../jobs/store/jobs.js';
import { readConcurrency } from '../../../jobs/store/concurrency.js';
import { readCostBudget } from '../../../jobs/store/cost-budget.js';
import { readSeedResults, readTotals } from '../../../rollouts/store/totals.js';
import { readSeedOutputs } from '../../../rollouts/store/outputs.js';
import { readUsage } from '../../../jobs/store/usage.js';
import { resolveCandidate } from '../../../candidates/routes/choice.js';
import { evaluationEstimate } from '../../../jobs/routes/cost-estimate.js';
import { readEvaluationDiagnosis } from '../../../diagnosis/routes/read.js';
import { readAgreement } from '../../../jobs/routes/agreement.js';
import { storedRequest } from '../../../jobs/routes/creates.js';
import type { Draft, HttpKind, JobRoute } from '../../../jobs/routes/kind.js';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { withRows } from './rows.js';
import { evaluationListItem, evaluationResults, evaluationView } from './view.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { jobParams, problems } from '../../../platform/http/server/schema.js';
import { passes, type RowFilter } from '../../../core/rows/filter.js';
import { groupBy } from '../../../util/group.js';
import { filterOf, registerResultRows } from '../../../rows/routes/routes.js';
import { readSelectable } from '../../../rows/routes/select.js';
import { rowsOfEvaluation } from '../../../rows/routes/subjects.js';
import { checkEvaluation, evaluationSpec } from '../../../jobs/routes/specs.js';
import { registerReport } from '../../../report/routes/routes.js';

type Body = z.output<typeof createEvaluationSchema>;

export const evaluationKind: HttpKind<EvaluationHead> = {
  kind: 'evaluation',
  param: 'job_id',
  noun: 'an evaluation',
  name: 'Evaluation',
  tags: ['Evaluations'],
  create: {
    body: createEvaluationSchema,
    formOf: (sent) => ({ schema: evaluationSchemaFor(sent), body: sent }),
    created: evaluationCreatedSchema,
    keyPath: ['container_api_key'],
    draft: draftEvaluation,
    promptOf: evaluatedPrompt,
  },
  list: { summary: 'List evaluations', item: evaluationListItemSchema, view: evaluationListItem },
  state: { summary: 'Status', schema: evaluationSchema, read: readEvaluation },
  eventPaths: ['/events/stream', '/events'],
  patchesAnyKind: true,
  registerOwn,
};

async function draftEvaluation(deps: HttpDeps, request: FastifyRequest, body: Body): Promise<Draft> {
  const { evaluation, path } = unwrap(body);
  const checks = await checkedForCaller(deps, request);
  checkEvaluation(evaluation, path, checks);
  const chosen = await resolveCandidate(deps, request, evaluation.candidate, path);
  const { candidate, rows, warnings, keep } = await withRows(checks, request, evaluation, chosen, path);
  const spec = evaluationSpec(evaluation, candidate, rows, path);
  return {
    spec,
    warnings,
    request: storedRequest(evaluation, spec.rows),
    containerApiKey: evaluation.container_api_key,
    prepare: keep,
    estimate: evaluationEstimate(spec),
  };
}

function evaluatedPrompt(spec: StoredSpec): Message[] | null {
  const { candidate } = spec as EvaluationSpec;
  return candidate && !candidate.graphSnapshotId ? renderPrompt(candidate.messages, candidate.demos ?? []) : null;
}

async function readEvaluation(tx: Tx, job: JobRow<EvaluationHead>, deps: HttpDeps) {
  const read = {
    totals: await readTotals(tx, job.jobId),
    agreement: await readAgreement(tx, job),
    found: await readEvaluationDiagnosis(tx, job),
    usage: await readUsage(tx, job.jobId),
    concurrency: await readConcurrency(tx, job.jobId),
    cost: await readCostBudget(tx, job.jobId),
  };
  return evaluationView(job, read, deps);
}

function registerOwn(app: App, deps: HttpDeps, route: JobRoute<EvaluationHead>): void {
  const { path, tags, find } = route;
  app.get(
    `${path}/results`,
    {
      schema: {
        tags,
        operationId: 'getEvaluationResults',
        summary: 'Results, seed by seed',
        description:
          'include=outputs adds the texts of each result, at most `limit` from `offset` on, of those that pass the filter.',
        params: jobParams,
        querystring: evaluationResultsQuerySchema,
        response: { 200: evaluationResultsSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const page = outputPage(request.query);
      const job = await find(request);
      const read = await deps.db.org(job.orgId, async (tx) => ({
        totals: await readTotals(tx, job.jobId),
        agreement: await readAgreement(tx, job),
        ...(page ? await readOutputs(tx, job, page) : { results: await readSeedResults(tx, job.jobId) }),
      }));
      return evaluationResults(job, read, request.caller.keyId);
    },
  );
  registerResultRows(app, deps, route);
  registerReport(app, deps, route);
}

/** The results that pass the filter, with their groups. */
async function readOutputs(tx: Tx, job: JobRow<EvaluationHead>, { filter, ...page }: OutputPage) {
  const { rows } = await readSelectable(tx, rowsOfEvaluation(job), filter);
  const passing = rows.filter((row) => passes(row, filter));
  const seeds = passing.length === rows.length ? null : passing.map(({ seed }) => seed);
  return {
    results: await readSeedOutputs(tx, job.jobId, job.spec.rows ?? null, { ...page, seeds }),
    total: passing.reduce((sum, { candidate }) => sum + candidate!.rollouts, 0),
    groups: new Map(rows.map(({ seed, group }) => [seed, group])),
    reviews: groupBy(
      rows.flatMap((row) => row.reviews),
      ({ subjectId }) => subjectId,
    ),
  };
}

interface OutputPage {
  limit: number;
  offset: number;
  filter: RowFilter;
}

/** The page of results with outputs; null: all results without. */
function outputPage({ include, ...page }: z.output<typeof evaluationResultsQuerySchema>): OutputPage | null {
  const { limit, offset, ...filter } = page;
  if (include) return { limit: limit ?? 100, offset: offset ?? 0, filter: filterOf(filter) };
  const given = Object.entries(page).filter(([, value]) => value !== undefined);
  const errors = given.map(([name]) => ({ pointer: `/${name}`, message: 'requires include=outputs' }));
  if (errors.length > 0) throw refuse.invalid(errors);
  return null;
}

function unwrap(body: Body): { evaluation: EvaluationRequest; path: string[] } {
  return 'config' in body ? { evaluation: body.config, path: ['config'] } : { evaluation: body, path: [] };
}
