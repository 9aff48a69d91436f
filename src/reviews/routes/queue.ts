/** What a reviewer is to look at next. */
import type { z } from 'zod';
import { answerOf, inputOf } from '../../core/deployments/request-texts.js';
import { passes } from '../../core/rows/filter.js';
import { readReviewable } from '../../kinds/deployment/store/reviewable.js';
import { readRequests, type RequestScope, type StoredRequest } from '../../kinds/deployment/store/logged-requests.js';
import type { EvaluationHead, GraphHead, JobHead, JobRow, SessionHead } from '../../jobs/store/jobs.js';
import type { HttpDeps } from '../../platform/http/deps.js';
import { outputChars } from '../../rollouts/store/outputs.js';
import type { rowsFilterQuerySchema } from '../../rows/contract/rows.js';
import { readPageTexts } from '../../rows/routes/page-texts.js';
import { filterOf } from '../../rows/routes/routes.js';
import { readSelectable, type SelectableRow } from '../../rows/routes/select.js';
import { rowsOfEvaluation, rowsOfSearch } from '../../rows/routes/subjects.js';
import { reviewView } from '../../rows/routes/review-view.js';
import { cutWithin } from '../../util/text.js';
import type { queueSchema } from '../contract/reviews.js';

type Queue = z.output<typeof queueSchema>;
type RowsQuery = z.output<typeof rowsFilterQuerySchema>;

/** Whose queue it is, and how much of it is shown. */
interface Asked {
  reviewer: string;
  /** Whether what the reviewer has given a verdict follows the rest. */
  withReviewed: boolean;
  limit: number;
  /** The key that asks. */
  keyId: string | null;
}

/** The rows of a job that pass a filter. */
export async function rowsToReview(
  { db }: HttpDeps,
  job: JobRow<JobHead>,
  { filter: query, reviewer, withReviewed, limit, keyId }: Asked & { filter: RowsQuery },
): Promise<Queue> {
  const filter = filterOf(query);
  return db.org(job.orgId, async (tx) => {
    const of =
      job.kind === 'evaluation'
        ? rowsOfEvaluation(job as JobRow<EvaluationHead>)
        : await rowsOfSearch(tx, job as JobRow<SessionHead | GraphHead>, query);
    const selected = await readSelectable(tx, of, filter);
    const answered = selected.rows.filter((row) => row.candidate !== null && passes(row, filter));
    const isDone = ({ reviews }: SelectableRow) =>
      reviews.some((review) => review.reviewer === reviewer && review.verdict !== null);
    const left = answered.filter((row) => !isDone(row));
    const page = [...left, ...(withReviewed ? answered.filter(isDone) : [])].slice(0, limit);
    const texts = await readPageTexts(tx, of, page);
    return {
      data: page.map(({ seed, candidate, reviews }) => {
        const { reward, shown, candidateId } = candidate!;
        const [row, run] = [texts.rows.get(seed), texts.runs.get(shown)];
        return {
          job_id: job.jobId,
          subject_id: shown,
          row: seed,
          candidate_id: candidateId,
          input: row?.input ?? null,
          expected: row?.expected ?? null,
          answer: run?.output ?? null,
          reward,
          judge: null,
          feedback: run?.feedback ?? null,
          reviews: reviews.map((review) => reviewView(review, keyId)),
        };
      }),
      done: answered.length - left.length,
      left: left.length,
    };
  });
}

/** The kept answers of a deployment, or of all deployments of a name. */
export async function answersToReview(
  { db }: HttpDeps,
  orgId: string,
  scope: RequestScope,
  asked: Asked,
): Promise<Queue> {
  return db.org(orgId, async (tx) => {
    const { answers, done, left } = await readReviewable(tx, scope, asked);
    const texts = new Map((await readRequests(tx, answers)).map((request) => [request.answerId, request]));
    const data = answers.map(({ deploymentId, answerId, reward, judge }) => ({
      job_id: deploymentId,
      subject_id: answerId,
      row: null,
      candidate_id: null,
      ...textsOf(texts.get(answerId)),
      expected: null,
      reward,
      judge,
      feedback: null,
      reviews: (texts.get(answerId)?.reviews ?? []).map((review) => reviewView(review, asked.keyId)),
    }));
    return { data, done, left };
  });
}

function textsOf(request: StoredRequest | undefined): { input: string | null; answer: string | null } {
  const parsed = (text: string | null | undefined) =>
    text == null ? null : (JSON.parse(text) as Record<string, unknown>);
  const [asked, answered] = [parsed(request?.request), parsed(request?.answer)];
  const input = asked && inputOf(asked);
  const answer = answered && answerOf(answered).text;
  const shown = typeof input === 'string' ? input : input && JSON.stringify(input);
  return {
    input: shown === null ? null : cutWithin(shown, outputChars),
    answer: answer === null ? null : cutWithin(answer, outputChars),
  };
}
