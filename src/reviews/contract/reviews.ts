/** Reviews by people, and the queue of what is to be reviewed. */
import { z } from 'zod';
import { pageQuery, pageSchema } from '../../contracts/common.js';
import { anyOf, needs, withRule } from '../../contracts/field-rules.js';
import { reviewSchema, reviewVerdictSchema } from '../../contracts/review.js';
import { wholeParameter } from '../../contracts/validation.js';
import { rowsFilterQuerySchema } from '../../rows/contract/rows.js';

const reviewer = z.string().min(1).max(150);
const by = reviewer.optional().describe('Who reviews. Default: the id of the API key.');

export const reviewParams = z.object({
  job_id: z.string().describe('A session, an evaluation, a graph job, or a deployment by its id or name.'),
  subject_id: z.string().describe('The `trace_id` of a row, or the id of a kept answer of the deployment.'),
});

const content = ['verdict', 'note', 'corrected'] as const;

export const putReviewSchema = withRule(
  z.strictObject(
    {
      verdict: reviewVerdictSchema.optional(),
      note: z.string().min(1).max(10_000).optional(),
      corrected: z.string().min(1).max(100_000).optional().describe('What the answer should have been.'),
      by,
    },
    'must be a JSON object',
  ),
  anyOf(
    { path: [], message: 'must have one of verdict, note and corrected. DELETE takes a review back' },
    ...content.map((name) => needs([name])),
  ),
);

export const deleteReviewQuerySchema = z.strictObject({ by });

export const reviewsQuerySchema = z.strictObject({
  job_id: reviewParams.shape.job_id.optional(),
  verdict: reviewVerdictSchema.optional(),
  by: reviewer.optional(),
  ...pageQuery,
});
export const reviewsPageSchema = pageSchema(reviewSchema);

const { review: _review, ...rowFilter } = rowsFilterQuerySchema.shape;

/** The filter is one of rows. */
export const queueQuerySchema = z.strictObject({
  job_id: reviewParams.shape.job_id,
  by,
  ...rowFilter,
  include_reviewed: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('Also those with a verdict of the reviewer, after the others.'),
  limit: wholeParameter(1, 500).default(20),
});

const cut = 'cut at 2,000 characters';

export const queueSchema = z.object({
  data: z.array(
    z
      .object({
        job_id: z.string(),
        subject_id: z.string(),
        row: z.int().nullable().describe('null: an answer of a deployment.'),
        candidate_id: z.string().nullable(),
        input: z.string().nullable().describe(`What was asked, ${cut}; null: it has expired, or is no text.`),
        expected: z.string().nullable().describe(`The expected value of the row, ${cut}.`),
        answer: z.string().nullable().describe(cut),
        reward: z.number().nullable().describe('Of the scorer; of a live answer the first that callers reported.'),
        judge: z.number().nullable().describe("The score of the deployment's judge; null: none, or a row."),
        feedback: z.string().nullable().describe(`Of the scorer, ${cut}.`),
        reviews: z.array(reviewSchema).describe('What people say of it, oldest first.'),
      })
      .meta({ id: 'ReviewQueueItem' }),
  ),
  done: z.int().describe('Those with a verdict of the reviewer.'),
  left: z.int().describe('The others. Of a deployment those of the latest 2,000 kept answers.'),
});
