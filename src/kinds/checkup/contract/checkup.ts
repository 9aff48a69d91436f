/** Checkups of what a name serves: views. */
import { z } from 'zod';
import { jobFields, statusSchema, warningsSchema } from '../../../contracts/common.js';
import { conclusions, intervalSchema } from '../../../contracts/search.js';
import { checkupSteps, improveModes, judgedVerdicts } from './steps.js';

export const checkupCreatedSchema = z.object({
  job_id: z.string(),
  status: statusSchema,
  rows: z.int().nullable().describe('Rows that are checked; null: none.'),
  traffic: z.int().nullable().describe('Requests that are checked, or decide; null: none.'),
  rollouts: z.int().describe('Rollouts at most, without repeated rows: of all evaluations and the session.'),
  warnings: warningsSchema.optional(),
  workflow_id: z.string(),
  temporal_url: z.string().nullable(),
});

const measured = { reward: z.number(), interval: intervalSchema };

const checkedView = z
  .object({
    job_id: z.string().describe('The evaluation of what is live.'),
    dataset_id: z.string(),
    scorer: z.string().describe('The type of the scorer.'),
    verdict: z.enum(judgedVerdicts),
    ...measured,
    rows: z.int(),
    baseline: z
      .object({ job_id: z.string(), ...measured })
      .nullable()
      .describe('The evaluation at the release, or of the first checkup. null: there is none.'),
    difference: z.number().nullable().describe('Now minus the baseline.'),
    difference_interval: intervalSchema.nullable().describe('95 %; without a bound ±Number.MAX_VALUE.'),
    p_value: z.number().nullable().describe('Two-sided, of the difference.'),
    rows_worse: z.int().describe('Rows with a lower reward than the baseline; of traffic 0.'),
  })
  .meta({ id: 'CheckedPart' })
  .nullable();

const improvementView = z
  .object({
    job_id: z.string().describe('The evaluation of the winner.'),
    session_id: z.string(),
    candidate_id: z.string(),
    verdict: z.enum(conclusions).describe('Whether the 95 % interval is above 0, below 0, or around it.'),
    ...measured,
    today: z.object(measured).describe('What is live, on the same requests.'),
    difference: z.number().describe('The winner minus what is live, row by row.'),
    difference_interval: intervalSchema,
    rows: z.int(),
    compare_url: z.string().describe('The comparison of the two evaluations.'),
  })
  .meta({ id: 'ComparedWinner' });

const worseRow = z.object({
  seed: z.int().describe('The row.'),
  baseline_reward: z.number(),
  reward: z.number(),
  input: z.string().nullable().describe('The input column, or the row as JSON; cut at 2,000 characters.'),
  expected: z.string().nullable(),
  baseline_output: z.string().nullable().describe('The answer then; null: not kept any more, or none.'),
  output: z.string().nullable().describe('The answer now.'),
});

const approval = z
  .enum(['pending', 'approved', 'rejected', 'expired'])
  .nullable()
  .describe('pending: a better winner waits for POST …/approval. expired: the name serves something else by now.');

const summary = {
  ...jobFields,
  deployment: z.string().describe('The id of what the name served when the checkup was created.'),
  improve: z.enum(improveModes).nullable().describe('When it searches for a better prompt; null: it does not.'),
  max_change: z.number(),
  checkup_number: z
    .int()
    .nullable()
    .describe(
      'Among the compared checkups of the deployment, from 1: the k-th is worse or better at p_value <= 0.05/(k(k+1)), divided by the parts that it compares. null: it compares nothing, or has not begun.',
    ),
  verdict: z
    .enum(judgedVerdicts)
    .nullable()
    .describe(
      'The first of worse, better, inconclusive, same and first that one of its parts has; null: none is judged yet.',
    ),
  improvement_verdict: z.enum(conclusions).nullable().describe('Of the winner of the session; null: there is none.'),
  approval,
  deployment_id: z.string().nullable().describe('The deployment that it has created.'),
};

export const checkupListItemSchema = z.object(summary).meta({ id: 'CheckupListItem' });

export const checkupSchema = z
  .object({
    ...summary,
    rows: checkedView.describe('What is live on its rows; null: not checked, or not yet.'),
    traffic: checkedView.describe('What is live on recent requests.'),
    improvement: improvementView.nullable().describe('The winner of the session beside what is live.'),
    worse: z.array(worseRow).describe('The rows that lose most, at most 50; requests of traffic are others each time.'),
    steps: z
      .array(
        z.object({
          step: z.enum(checkupSteps),
          job_id: z.string(),
          status: statusSchema,
          total_cost_usd: z.number().nullable(),
        }),
      )
      .describe('The jobs so far, in their order.'),
    not_deployed: z.string().nullable().describe('Why there is no deployment although one was asked for.'),
    max_cost_usd: z.number().nullable().describe('Of all its jobs; null: no limit.'),
    total_cost_usd: z.number().nullable().describe('Of all its jobs; null if a price is unknown.'),
  })
  .meta({ id: 'Checkup' });
