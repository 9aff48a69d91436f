/** What people say of answers, one review of each; of a live answer it counts as feedback. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { reviewSchema } from '../../contracts/review.js';
import { find as findDeployment } from '../../kinds/deployment/routes/find.js';
import { reviewKeyPrefix } from '../../kinds/deployment/contract/feedback.js';
import { mostReports } from '../../kinds/deployment/store/feedback.js';
import { reviseFeedback } from '../../kinds/deployment/store/revised-feedback.js';
import { findJob } from '../../jobs/routes/control.js';
import type { Tx } from '../../platform/db/db.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { refuse } from '../../platform/http/server/errors.js';
import { parseTimeCursor, timedPage } from '../../platform/http/server/pages.js';
import { bodyProblems, problems } from '../../platform/http/server/schema.js';
import { reviewView } from '../../rows/routes/review-view.js';
import {
  deleteReviewQuerySchema,
  putReviewSchema,
  queueQuerySchema,
  queueSchema,
  reviewParams,
  reviewsPageSchema,
  reviewsQuerySchema,
} from '../contract/reviews.js';
import { deleteReview, listReviews, putReview, type ReviewContent } from '../store/reviews.js';
import { answersToReview, rowsToReview } from './queue.js';
import { findSubject, isOfRows, type FoundSubject } from './subject.js';

const tags = ['Reviews'];
const base = '/api/v1/reviews';
const path = `${base}/:job_id/:subject_id` as const;
/** A review is its own record; a repetition changes nothing. */
const config = { audit: 'none', idempotency: 'none' } as const;

export function registerReviews(app: App, deps: HttpDeps): void {
  registerReads(app, deps);
  registerChanges(app, deps);
}

function registerReads(app: App, deps: HttpDeps): void {
  app.get(
    base,
    {
      schema: {
        tags,
        operationId: 'listReviews',
        summary: 'List reviews, newest first',
        querystring: reviewsQuerySchema,
        response: { 200: reviewsPageSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const { job_id: ref, verdict, by: reviewer, limit, cursor } = request.query;
      const { orgId, keyId } = request.caller;
      const after = parseTimeCursor(cursor);
      const jobId = ref === undefined ? undefined : await jobIdOf(deps, request, ref);
      const filter = { jobId, verdict, reviewer };
      const rows = await deps.db.org(orgId, (tx) => listReviews(tx, filter, { after, limit: limit + 1 }));
      return timedPage(
        rows,
        limit,
        ({ id }) => id,
        (row) => reviewView(row, keyId),
      );
    },
  );

  app.get(
    `${base}/queue`,
    {
      schema: {
        tags,
        operationId: 'getReviewQueue',
        summary: 'What is to be reviewed next',
        description:
          'Rows of a job that pass the filter, by their numbers; or kept answers of a deployment, those of which judge and reward disagree first, then the newest.',
        querystring: queueQuerySchema,
        response: { 200: queueSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const { job_id: jobId, by, include_reviewed: withReviewed, limit, ...filter } = request.query;
      const { keyId } = request.caller;
      const asked = { reviewer: reviewerOf(request, by), withReviewed, limit, keyId };
      if (isOfRows(jobId)) {
        const job = await findJob(deps, request, jobId);
        return rowsToReview(deps, job, { filter, ...asked });
      }
      const given = Object.entries(filter).filter(([, value]) => value !== undefined);
      const errors = given.map(([name]) => ({ pointer: `/${name}`, message: 'is a filter of rows, of a job only' }));
      if (errors.length > 0) throw refuse.invalid(errors);
      const { id, name, orgId } = await findDeployment(deps, request, jobId);
      const scope = jobId === name ? { name } : { deploymentId: id };
      return answersToReview(deps, orgId, scope, asked);
    },
  );
}

function registerChanges(app: App, deps: HttpDeps): void {
  app.put(
    path,
    {
      config,
      schema: {
        tags,
        operationId: 'putReview',
        summary: 'Say whether an answer is right',
        description:
          'One review of each reviewer; another one replaces it. On an answer of a deployment it counts as feedback: right is a reward of 1, wrong of 0.',
        params: reviewParams,
        body: putReviewSchema,
        response: { 200: reviewSchema, ...bodyProblems(404) },
      },
    },
    async (request) => {
      const { by, verdict = null, note = null, corrected = null } = request.body;
      const reviewer = reviewerOf(request, by);
      const subject = await findSubject(deps, request, request.params);
      if (subject.live && verdict === 'bad_expected') {
        const message = 'is for rows: a live answer has no expected value';
        throw refuse.invalid([{ pointer: '/verdict', message }]);
      }
      const content = { verdict, note, corrected };
      const { review, counted } = await deps.db.org(subject.orgId, async (tx) => {
        const counted = subject.live ? await report(tx, subject, reviewer, content) : null;
        return { review: await putReview(tx, subject, reviewer, content), counted };
      });
      if (counted !== null) {
        const of = { organization: subject.orgId, deployment: subject.live!.name };
        deps.observeReward?.({ ...of, reward: Number(counted) });
      }
      return reviewView(review, request.caller.keyId);
    },
  );

  app.delete(
    path,
    {
      config,
      schema: {
        tags,
        operationId: 'deleteReview',
        summary: 'Take a review back',
        description: 'With the feedback that it counts as.',
        params: reviewParams,
        querystring: deleteReviewQuerySchema,
        response: { 204: z.undefined().describe('Deleted.'), ...problems(404, 422) },
      },
    },
    async (request, reply) => {
      const reviewer = reviewerOf(request, request.query.by);
      const subject = await findSubject(deps, request, request.params);
      const isDeleted = await deps.db.org(subject.orgId, async (tx) => {
        if (subject.live) await report(tx, subject, reviewer, null);
        return deleteReview(tx, subject, reviewer);
      });
      if (!isDeleted) throw refuse.notFound(`review of "${request.params.subject_id.slice(0, 100)}"`);
      return reply.code(204).send();
    },
  );
}

/** Who reviews; without a name the key that asks. */
const reviewerOf = ({ caller }: FastifyRequest, by: string | undefined): string => by ?? caller.keyId!;

/** The id that reviews of a job or a deployment have. Throws 404. */
async function jobIdOf(deps: HttpDeps, request: FastifyRequest, ref: string): Promise<string> {
  if (isOfRows(ref)) return (await findJob(deps, request, ref)).jobId;
  return (await findDeployment(deps, request, ref)).id;
}

/** Reports a review of a live answer; null takes it back. Returns a reward that counts anew. */
async function report(
  tx: Tx,
  { orgId, subjectId, live }: FoundSubject,
  reviewer: string,
  content: ReviewContent | null,
): Promise<boolean | null> {
  const answer = { orgId, answerId: subjectId, ...live! };
  const outcome = await reviseFeedback(tx, answer, {
    key: `${reviewKeyPrefix}${reviewer}`,
    content: content && {
      ...(content.verdict !== null && { reward: content.verdict === 'right' }),
      ...(content.note !== null && { comment: content.note }),
      ...(content.corrected !== null && { corrected: content.corrected }),
    },
  });
  if (outcome.is === 'revised') return outcome.counted;
  if (outcome.is === 'unknown') throw refuse.notFound(`answer "${subjectId.slice(0, 100)}" of a deployment`);
  throw refuse.invalid([{ pointer: '/by', message: `is beyond the ${mostReports} reports of an answer` }]);
}
