/** A judge scores a sample of what a name answers. */
import { z } from 'zod';
import { agreementSchema } from '../../../contracts/agreement.js';
import { timestamp } from '../../../contracts/common.js';
import { unlessMissing } from '../../../contracts/validation.js';
import { scorerSchema } from '../../../scorers/index.js';

/** The metric of its scores. */
export const judgeMetric = 'judge';

/** Begins keys of feedback that the service gives. */
export const ownKeyPrefix = 'ratchet:';

export const judgeSchema = z.strictObject(
  {
    scorer: scorerSchema,
    sample_rate: z
      .number()
      .min(0)
      .max(1)
      .describe('The share of answers that is judged; an episode is judged as a whole. Default: 0.05.'),
    max_cost_usd_per_day: z
      .number()
      .min(0)
      .max(1_000_000_000)
      .nullable()
      .describe(
        'Dollars of its model calls in a UTC day, reserved before each call. Default: 1. null: no limit, as models of unknown prices need it.',
      ),
  },
  unlessMissing('must be an object with scorer, or null'),
);
export const judgeDefaults = { sample_rate: 0.05, max_cost_usd_per_day: 1 };
export type JudgeSettings = z.output<typeof judgeSchema>;

export const judgeView = z
  .object({
    scorer: z.looseObject({ type: z.string() }),
    sample_rate: z.number(),
    max_cost_usd_per_day: z.number().nullable(),
  })
  .meta({ id: 'DeploymentJudge' });

/** What a judge has done. */
export const judgedView = z
  .object({
    judged: z.int().describe('Answers with a score.'),
    failed: z.int().describe('Answers that could not be scored.'),
    dropped: z
      .int()
      .describe('Samples that were left out: too long, beyond those that may wait, or beyond its dollars.'),
    waiting: z.int(),
    last_failure: z
      .object({ code: z.string(), message: z.string(), at: timestamp })
      .nullable()
      .describe('The latest try without a score.'),
    spend_today_usd: z.number().describe('Of the UTC day; a call of unknown cost counts as the most that it may cost.'),
    budget_used_up: z
      .boolean()
      .describe('Whether max_cost_usd_per_day is used up: nothing is judged until the next day.'),
    agreement: agreementSchema.describe("With people's reviews of its answers. Absent: there are none with a score."),
  })
  .meta({ id: 'DeploymentJudged' });
