import { z } from 'zod';
import type { UnitSource } from '../../core/jobs/unit.js';
import { pageSchema } from '../../contracts/common.js';
import { candidateItemSchema, candidatesQuerySchema, seedEvalsQuerySchema } from '../contract/lineage.js';
import type { Tx } from '../../platform/db/db.js';
import type { JobRow } from '../../jobs/store/jobs.js';
import { readSeedEvals, type SeedEval } from '../store/lineage.js';
import { readCandidates, readPrompt } from '../store/reads.js';
import type { JobRoute } from '../../jobs/routes/kind.js';
import { candidateOf, noCandidate } from './candidate-of.js';
import { registerChanges, type MeasuredRows } from './changes.js';
import { decisionView } from './decision-view.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { numberedPage, parseCursor } from '../../platform/http/server/pages.js';
import { problems } from '../../platform/http/server/schema.js';
import { candidateView } from './view.js';

/** Views of the candidates of a job kind; `view` and `read` return the shape of `schema`. */
export interface LineageView<Head> {
  /** null: the job has no such candidate. */
  detail: RouteDocs & { read(tx: Tx, job: JobRow<Head>, candidateId: string): Promise<object | null> };
  seedEval: { schema: z.ZodType; view(row: SeedEval): object };
  pareto: RouteDocs & { read(tx: Tx, job: JobRow<Head>): Promise<object> };
  /** The rows on which its candidates are measured again without an edit; null: on none. */
  measured: ((tx: Tx, job: JobRow<Head>, candidateId: string) => Promise<MeasuredRows | null>) | null;
}

interface RouteDocs {
  schema: z.ZodType;
  summary: string;
  description: string;
}

/** Registers a job kind's candidate routes: list, detail, rollouts and Pareto front. */
export function registerLineage<Head extends UnitSource>(
  app: App,
  deps: HttpDeps,
  route: JobRoute<Head>,
  view: LineageView<Head>,
): void {
  registerLists(app, deps, route, view.pareto);
  registerCandidate(app, deps, route, view);
  registerChanges(app, deps, route, view.measured);
}

function registerLists<Head extends UnitSource>(
  app: App,
  deps: HttpDeps,
  { path, params, name, tags, find }: JobRoute<Head>,
  pareto: LineageView<Head>['pareto'],
): void {
  app.get(
    `${path}/candidates`,
    {
      schema: {
        tags,
        operationId: `list${name}Candidates`,
        summary: 'Candidates, and why each was accepted or rejected',
        description: 'In the order in which they were proposed, the baseline first.',
        params,
        querystring: candidatesQuerySchema,
        response: { 200: pageSchema(candidateItemSchema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { status, limit, cursor } = request.query;
      const after = parseCursor(cursor);
      const job = await find(request);
      return deps.db.org(job.orgId, async (tx) => {
        const rows = await readCandidates(tx, job.jobId, { status, after, limit: limit + 1 });
        return numberedPage(
          rows,
          limit,
          ({ leverVersion }) => leverVersion,
          (row) => ({ ...candidateView(row), decision: decisionView(row, job) }),
        );
      });
    },
  );

  app.get(
    `${path}/pareto`,
    {
      schema: {
        tags,
        operationId: `get${name}Pareto`,
        summary: pareto.summary,
        description: pareto.description,
        params,
        response: { 200: pareto.schema, ...problems(404) },
      },
    },
    async (request) => {
      const job = await find(request);
      return deps.db.org(job.orgId, (tx) => pareto.read(tx, job));
    },
  );
}

function registerCandidate<Head extends UnitSource>(
  app: App,
  deps: HttpDeps,
  { path, params, name, tags, find }: JobRoute<Head>,
  { detail, seedEval }: LineageView<Head>,
): void {
  const candidateParams = params.extend({ candidate_id: z.string() });

  app.get(
    `${path}/candidates/:candidate_id`,
    {
      schema: {
        tags,
        operationId: `get${name}Candidate`,
        summary: detail.summary,
        description: detail.description,
        params: candidateParams,
        response: { 200: detail.schema, ...problems(404) },
      },
    },
    async (request) => {
      const job = await find(request);
      const candidateId = candidateOf(request.params.candidate_id);
      const shown = await deps.db.org(job.orgId, (tx) => detail.read(tx, job, candidateId));
      if (!shown) throw noCandidate(candidateId);
      return shown;
    },
  );

  app.get(
    `${path}/candidates/:candidate_id/seed-evals`,
    {
      schema: {
        tags,
        operationId: `list${name}SeedEvals`,
        summary: "A candidate's rollouts",
        description: 'In the order in which they were asked for, also those that have not ended.',
        params: candidateParams,
        querystring: seedEvalsQuerySchema,
        response: { 200: pageSchema(seedEval.schema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const after = parseCursor(cursor);
      const job = await find(request);
      const candidateId = candidateOf(request.params.candidate_id);
      const rows = await deps.db.org(job.orgId, async (tx) => {
        if (!(await readPrompt(tx, job.jobId, candidateId))) throw noCandidate(candidateId);
        return readSeedEvals(tx, job.jobId, candidateId, { after, limit: limit + 1 });
      });
      return numberedPage(rows, limit, ({ ordinal }) => ordinal, seedEval.view);
    },
  );
}
