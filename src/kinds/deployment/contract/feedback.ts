import { z } from 'zod';
import { correlationPattern, pageQuery, timestamp } from '../../../contracts/common.js';
import { judgeMetric, ownKeyPrefix } from './judge.js';
import { anyOf, needs, needsOne, together, withRule } from '../../../contracts/field-rules.js';

const valueSchema = z
  .union([z.number().min(-1e9).max(1e9), z.boolean()], 'must be a number of -1e9 to 1e9, true or false')
  .meta({ id: 'FeedbackValue', description: 'true is 1, false is 0.' });

/** The metric that verdicts are about. */
const rewardMetric = 'reward';

/** Begins the keys of what people's reviews report. */
export const reviewKeyPrefix = `${ownKeyPrefix}review:`;

export const metricNameSchema = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a name in snake_case');

const metricsSchema = z
  .record(metricNameSchema, valueSchema)
  .refine((metrics) => Object.keys(metrics).length <= 20, 'must have at most 20 metrics')
  .refine((metrics) => !Object.hasOwn(metrics, rewardMetric), 'must not contain reward: it is a field of its own')
  .refine(
    (metrics) => !Object.hasOwn(metrics, judgeMetric),
    'must not contain judge: it has the scores of the judge of the deployment',
  );

const reported = ['reward', 'metrics', 'comment', 'corrected'] as const;
const nothing = `must have one of ${reported.slice(0, -1).join(', ')} and ${reported.at(-1)}`;

export const feedbackSchema = withRule(
  z.strictObject(
    {
      answer_id: z.string().max(100).optional().describe('The `id` of a completion, or x-ratchet-answer-id.'),
      correlation_id: z
        .string()
        .regex(correlationPattern, 'must be 1 to 256 visible ASCII characters')
        .optional()
        .describe('All answers whose requests had this x-ratchet-correlation-id.'),
      key: z
        .string()
        .max(200)
        .refine(
          (key) => !key.startsWith(ownKeyPrefix),
          `must not begin with ${ownKeyPrefix}: such keys are those of the service`,
        )
        .default('')
        .describe('Who or what reports. An answer, or an episode, has one report of each key.'),
      reward: valueSchema.optional().describe('How good it was. The first reward of an answer counts.'),
      metrics: metricsSchema.optional().describe('Further metrics, by name.'),
      comment: z.string().min(1).max(10_000).optional(),
      corrected: z.string().min(1).max(100_000).optional().describe('What the answer should have been.'),
    },
    'must be a JSON object with answer_id or correlation_id',
  ),
  together(
    needsOne(['answer_id', 'correlation_id'], 'must have exactly one of answer_id and correlation_id'),
    anyOf({ path: [], message: nothing }, ...reported.map((name) => needs([name]))),
  ),
);
export type FeedbackRequest = z.output<typeof feedbackSchema>;

export const feedbackViewSchema = z
  .object({
    id: z.string(),
    deployment_id: z.string().describe('The deployment that answered; of an episode the last one.'),
    answer_id: z.string().nullable(),
    correlation_id: z.string().nullable(),
    key: z.string(),
    answers: z.int().describe('How many answers it is about.'),
    reward: valueSchema.nullable(),
    metrics: z.record(z.string(), valueSchema),
    comment: z.string().nullable(),
    corrected: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Feedback' });

export const feedbackAnswerSchema = feedbackViewSchema.extend({
  duplicate: z.boolean().describe('Whether the same report was there before.'),
  warning: z.string().nullable().describe('Why statistics leave out a part of it.'),
});

export const feedbackQuerySchema = z.strictObject(pageQuery);
