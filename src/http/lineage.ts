import { z } from 'zod';
import { pageSchema } from '../contracts/common.js';
import {
  candidateDetailSchema,
  candidateItemSchema,
  candidatesQuerySchema,
  paretoSchema,
  seedEvalSchema,
  seedEvalsQuerySchema,
} from '../contracts/lineage.js';
import { cutText } from '../clients/untrusted.js';
import type { SessionHead } from '../storage/jobs.js';
import { readSeedEvals, type SeedEval } from '../storage/lineage.js';
import { readCandidates, readPrompt } from '../storage/reads.js';
import { readCandidateDetail } from './candidate-detail.js';
import { findJob } from './control.js';
import { readJudged } from './decision-view.js';
import type { App, HttpDeps } from './deps.js';
import { refuse } from './errors.js';
import { isoOrNull } from './job-view.js';
import { numberedPage, placeAfter } from './pages.js';
import { readPareto } from './pareto-view.js';
import { problems, sessionParams } from './schema.js';
import { candidateView } from './sessions-view.js';

const one = '/api/v1/online/sessions/:session_id';
const tags = ['policy optimization'];
const candidateParams = sessionParams.extend({ candidate_id: z.string() });
/** Of a feedback in a list; the whole is in the rollout's trace. */
const feedbackBytes = 4 * 1024;

/** Where the candidates of a session come from, how they fared, and what was decided of each. */
export function registerLineage(app: App, deps: HttpDeps): void {
  const find = (request: Parameters<typeof findJob>[1], jobId: string) =>
    findJob<SessionHead>(deps, request, jobId, 'session');

  app.get(
    `${one}/candidates`,
    {
      schema: {
        tags,
        summary: 'Candidates, and why each was accepted or rejected',
        description: 'In the order in which they were proposed, the baseline first.',
        params: sessionParams,
        querystring: candidatesQuerySchema,
        response: { 200: pageSchema(candidateItemSchema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { status, limit, cursor } = request.query;
      const after = placeAfter(cursor);
      const job = await find(request, request.params.session_id);
      return deps.db.org(job.orgId, async (tx) => {
        const rows = await readCandidates(tx, job.jobId, { status, after, limit: limit + 1 });
        const judged = await readJudged(tx, job.jobId, job.status, rows.slice(0, limit));
        return numberedPage(
          rows,
          limit,
          ({ leverVersion }) => leverVersion,
          (row) => ({ ...candidateView(row), decision: judged.get(row.id)!.decision }),
        );
      });
    },
  );

  app.get(
    `${one}/candidates/:candidate_id`,
    {
      schema: {
        tags,
        summary: 'One candidate: its text, what it was made from, and who wrote which sentence',
        description:
          'For each sentence the ancestor that introduced it, and the feedback that this one’s reflection was shown. Long ' +
          'texts are cut.',
        params: candidateParams,
        response: { 200: candidateDetailSchema, ...problems(404) },
      },
    },
    async (request) => {
      const { session_id: sessionId, candidate_id: candidateId } = request.params;
      const job = await find(request, sessionId);
      checkCandidate(candidateId);
      const detail = await deps.db.org(job.orgId, (tx) => readCandidateDetail(tx, job, candidateId));
      if (!detail) throw noCandidate(candidateId);
      return detail;
    },
  );

  app.get(
    `${one}/candidates/:candidate_id/seed-evals`,
    {
      schema: {
        tags,
        summary: "A candidate's rollouts",
        description: 'In the order in which they were asked for, also those that have not ended.',
        params: candidateParams,
        querystring: seedEvalsQuerySchema,
        response: { 200: pageSchema(seedEvalSchema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { session_id: sessionId, candidate_id: candidateId } = request.params;
      const { limit, cursor } = request.query;
      const after = placeAfter(cursor);
      const job = await find(request, sessionId);
      checkCandidate(candidateId);
      const rows = await deps.db.org(job.orgId, async (tx) => {
        if (!(await readPrompt(tx, job.jobId, candidateId))) throw noCandidate(candidateId);
        return readSeedEvals(tx, job.jobId, candidateId, { after, limit: limit + 1 });
      });
      return numberedPage(rows, limit, ({ ordinal }) => ordinal, seedEvalView);
    },
  );

  app.get(
    `${one}/pareto`,
    {
      schema: {
        tags,
        summary: 'The best reward for each evaluation seed, and who holds it',
        params: sessionParams,
        response: { 200: paretoSchema, ...problems(404) },
      },
    },
    async (request) => {
      const job = await find(request, request.params.session_id);
      return deps.db.org(job.orgId, (tx) => readPareto(tx, job.jobId));
    },
  );
}

/** What cannot be a candidate's id is not looked for: Postgres refuses some texts. */
function checkCandidate(candidateId: string): void {
  if (!/^cand_\w+$/.test(candidateId)) throw noCandidate(candidateId);
}

function noCandidate(candidateId: string) {
  return refuse.notFound(`candidate ${candidateId.slice(0, 100)}`);
}

function seedEvalView(row: SeedEval): z.output<typeof seedEvalSchema> {
  return {
    rollout_id: row.rolloutId,
    seed: row.seed,
    stage: row.stage,
    generation: row.generation,
    reward: row.reward,
    status: row.status,
    feedback: row.feedback === null ? null : cutText(row.feedback, feedbackBytes),
    error: row.error,
    completed_at: isoOrNull(row.completedAt),
  };
}
