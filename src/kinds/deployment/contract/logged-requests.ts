/** Requests of a deployment whose texts are kept. */
import { z } from 'zod';
import { correlationPattern, pageQuery, timestamp } from '../../../contracts/common.js';
import { reviewSchema } from '../../../contracts/review.js';
import { wholeParameter } from '../../../contracts/validation.js';
import { datasetSchema, uploadLimits } from '../../../datasets/contract/dataset.js';

const outcomes = ['ok', 'error', 'aborted'] as const;
const time = z.iso.datetime({ offset: true });

/** A number in a query. */
const numberParameter = z
  .unknown()
  .transform((text) => (typeof text === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : text))
  .pipe(z.number('must be a number'))
  .meta({ type: 'number' });

export const filterFields = {
  from: time.optional().describe('Requests that ended at this time or later.'),
  to: time.optional().describe('Requests that ended before.'),
  outcome: z.enum(outcomes).optional(),
  code: z.string().max(100).optional().describe('Errors of this code.'),
  correlation_id: z.string().regex(correlationPattern).optional().describe('Requests of this episode.'),
  feedback: z
    .enum(['any', 'none', 'corrected'])
    .optional()
    .describe('any: with a report of the answer or of its episode. corrected: one has a corrected answer.'),
  q: z.string().min(1).max(500).optional().describe('A part of a text, in any case of its letters.'),
};

export const loggedQuerySchema = z.strictObject({
  ...filterFields,
  min_reward: numberParameter.optional(),
  max_reward: numberParameter.optional(),
  limit: wholeParameter(1, 100).default(20),
  cursor: pageQuery.cursor,
});

const { limit: _limit, cursor: _cursor, ...exportFields } = loggedQuerySchema.shape;
export const exportQuerySchema = z.strictObject(exportFields);

export const loggedDatasetSchema = z
  .strictObject(
    {
      ...filterFields,
      min_reward: z.number().optional(),
      max_reward: z.number().optional(),
      limit: z
        .int()
        .min(1)
        .max(uploadLimits.rows)
        .default(10_000)
        .describe('The latest requests that pass become rows, at most so many.'),
      expected: z
        .enum(['corrected', 'corrected_or_answer', 'reviewed'])
        .default('corrected')
        .describe(
          'What the column `expected` holds: the corrected answer, else nothing or the answer itself. reviewed: the corrected answer, else the answer itself if all its reviews call it right; others are left out.',
        ),
    },
    'must be a JSON object, or absent',
  )
  .nullish();

export const loggedDatasetAnswerSchema = datasetSchema.extend({
  left_out: z.int().describe('Requests that pass, and whose text is no row: with tools, images or too long.'),
});

export const loggedRequestSchema = z
  .object({
    answer_id: z.string(),
    deployment_id: z.string(),
    at: timestamp.describe('When the answer ended.'),
    outcome: z.enum(outcomes),
    code: z.string().nullable().describe('Of an error.'),
    provider: z.string(),
    model: z.string().describe('Of a graph its first model.'),
    latency_ms: z.number(),
    prompt_tokens: z.int().nullable(),
    completion_tokens: z.int().nullable(),
    cost_usd: z.number().nullable(),
    correlation_id: z.string().nullable(),
    reward: z.union([z.number(), z.boolean()]).nullable().describe('The first that was reported of it.'),
    corrected: z.string().nullable().describe('The latest corrected answer.'),
    reports: z.int().describe('Reports of the answer and of its episode.'),
    reviews: z.array(reviewSchema).describe('What people say of the answer, oldest first.'),
    request: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe("The caller's request, without its model and the bytes of files; null: more than 262,144 characters."),
    answer: z.record(z.string(), z.unknown()).nullable().describe('The `choices` of the answer, or its `error`.'),
  })
  .meta({ id: 'LoggedRequest' });
