/** What callers report of answers: rewards, metrics, comments, corrected answers. */
import { z } from 'zod';
import { pageSchema } from '../../../contracts/common.js';
import { longestRef } from '../../../core/deployments/ref.js';
import { AnswerIds } from '../store/answer-ids.js';
import {
  feedbackAnswerSchema,
  feedbackQuerySchema,
  feedbackSchema,
  feedbackViewSchema,
  type FeedbackRequest,
} from '../contract/feedback.js';
import {
  listFeedback,
  mostMetrics,
  mostReports,
  recordFeedback,
  type Feedback,
  type FeedbackOutcome,
  type FeedbackSubject,
} from '../store/feedback.js';
import type { DeploymentRow } from '../store/deployments.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { parseTimeCursor, timedPage } from '../../../platform/http/server/pages.js';
import { bodyProblems, idempotencyHeader, problems } from '../../../platform/http/server/schema.js';
import { find, mayMove, path, tags } from './find.js';

const params = z.object({
  deployment_id: z
    .string()
    .describe('An id or NAME@VERSION: its own answers. A name or NAME@LABEL: answers of all its deployments.'),
});

export function registerFeedback(app: App, deps: HttpDeps): void {
  const answerIds = new AnswerIds(deps.secretKey);
  app.post(
    `${path}/feedback`,
    {
      config: { audit: 'none', scope: 'infer' },
      schema: {
        tags,
        operationId: 'reportFeedback',
        summary: 'Report how good an answer was',
        description:
          'Of an answer by its id, or of all answers of an episode. At any time later, once for each key; a repetition changes nothing.',
        params,
        headers: idempotencyHeader,
        body: feedbackSchema,
        response: { 200: feedbackAnswerSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request) => {
      const { params, body } = request;
      const row = await find(deps, request, params.deployment_id);
      const subject = subjectOf(row, params.deployment_id, body, answerIds);
      const { key, reward, metrics, comment, corrected } = body;
      const given = { key, content: { reward, metrics, comment, corrected } };
      const outcome = await deps.db.org(row.orgId, (tx) => recordFeedback(tx, subject, given));
      if (outcome.is === 'unknown') throw noAnswer(params.deployment_id, body);
      if (outcome.is === 'conflict') throw conflict(outcome.feedback);
      if (outcome.is === 'full') throw noRoom(outcome.of);
      const isCounted = outcome.is === 'recorded' && outcome.feedback.deployments === 1;
      if (isCounted && reward !== undefined && !outcome.uncounted.includes('reward'))
        deps.observeReward?.({ organization: row.orgId, deployment: row.name, reward: Number(reward) });
      return { ...feedbackView(outcome.feedback), duplicate: outcome.is === 'duplicate', warning: warningOf(outcome) };
    },
  );

  app.get(
    `${path}/feedback`,
    {
      schema: {
        tags,
        operationId: 'listFeedback',
        summary: 'List feedback, newest first',
        params: z.object({
          deployment_id: z.string().describe('Its id, the name that it serves, NAME@LABEL or NAME@VERSION.'),
        }),
        querystring: feedbackQuerySchema,
        response: { 200: pageSchema(feedbackViewSchema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const after = parseTimeCursor(cursor);
      const { id, orgId } = await find(deps, request, request.params.deployment_id);
      const rows = await deps.db.org(orgId, (tx) => listFeedback(tx, id, { after, limit: limit + 1 }));
      return timedPage(rows, limit, (row) => row.id, feedbackView);
    },
  );
}

function subjectOf(
  row: DeploymentRow,
  ref: string,
  { answer_id: answerId, correlation_id: correlationId }: FeedbackRequest,
  answerIds: AnswerIds,
): FeedbackSubject {
  const about =
    answerId === undefined ? { correlationId: correlationId! } : { answerId, answered: answerIds.read(answerId) };
  const { id, orgId, name } = row;
  const unitOf = (answer: string) => answerIds.read(answer)?.unit ?? null;
  return { orgId, name, deploymentId: mayMove(ref, row) ? null : id, about, unitOf };
}

function feedbackView({ id, deploymentId, answerId, correlationId, key, answers, content, createdAt }: Feedback) {
  const { reward = null, metrics = {}, comment = null, corrected = null } = content;
  return {
    id,
    deployment_id: deploymentId,
    answer_id: answerId,
    correlation_id: correlationId,
    key,
    answers,
    reward,
    metrics,
    comment,
    corrected,
    created_at: createdAt.toISOString(),
  };
}

function warningOf({ feedback, uncounted }: Extract<FeedbackOutcome, { uncounted: string[] }>): string | null {
  if (feedback.deployments > 1)
    return `${feedback.deployments} deployments answered in the episode, so its values count for none of them.`;
  if (uncounted.length === 0) return null;
  return `An earlier report of another key counts for ${uncounted.join(', ')}.`;
}

function noAnswer(ref: string, { answer_id: answerId, correlation_id: correlationId }: FeedbackRequest): ApiError {
  const subject = answerId === undefined ? `the correlation id "${correlationId}"` : `the id "${answerId}"`;
  const message = `No answer of ${ref.slice(0, longestRef)} has ${subject}.`;
  return new ApiError(404, 'answer_not_found', message);
}

function noRoom(of: 'reports' | 'metrics'): ApiError {
  if (of === 'metrics')
    return refuse.invalid([{ pointer: '/metrics', message: `has a name beyond the ${mostMetrics} of the deployment` }]);
  return refuse.invalid([{ pointer: '/key', message: `is beyond the ${mostReports} reports of an answer` }]);
}

function conflict({ id, key }: Feedback): ApiError {
  const detail = `Feedback ${id} with other content has the key "${key}"; report under another key.`;
  return new ApiError(409, 'feedback_conflict', detail);
}
