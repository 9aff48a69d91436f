/** A prompt on a few rows, answered at once. */
import { z } from 'zod';
import { policySchema, warningsSchema } from '../../../contracts/common.js';
import { withRule } from '../../../contracts/field-rules.js';
import { wholeNumber } from '../../../contracts/validation.js';
import { sourceRule } from '../../../datasets/contract/rows.js';
import { diagnosisSchema } from '../../../diagnosis/contract/diagnosis.js';
import { evaluationFields, ofContainer, ofRows } from './evaluation.js';

export const mostTried = 20;
/** Clients and proxies give a request a minute. */
const longestTryS = 50;

const { preflight: _preflight, max_failure_rate: _rate, ...fields } = evaluationFields;

export const trySchema = withRule(
  z.strictObject(
    {
      ...fields,
      policy: policySchema,
      seeds: fields.seeds.describe('The rows are taken from these. Default with dataset: all rows.'),
      timeout: z
        .number()
        .gt(0)
        .max(longestTryS)
        .default(longestTryS)
        .describe('Seconds after which the answer has the rows so far; the others are timed_out.'),
      rows: wholeNumber(1, mostTried).default(5).describe('How many rows, drawn at random: the same ones each time.'),
    },
    'must be a JSON object with dataset, scorer, policy and candidate',
  ),
  sourceRule({ container: ofContainer, rows: ofRows }),
  'Try',
);
export type TryRequest = z.infer<typeof trySchema>;

const cut = 'cut at 2,000 characters';

const triedRowSchema = z
  .object({
    row: z.int().describe('Number of the row, from 0; of a container the seed.'),
    text: z.string().nullable().describe(`The input column, or the row as JSON; null: a container; ${cut}.`),
    expected: z.string().nullable().describe(`null: none; ${cut}.`),
    answer: z.string().nullable().describe(`null: the model gave none; ${cut}.`),
    reward: z.number().nullable(),
    feedback: z.string().nullable().describe(`What the scorer says; ${cut}.`),
    finish_reason: z.string().nullable().describe('Why the answer ended, such as stop or length.'),
    error: z
      .object({ code: z.string().describe('timed_out: no answer in time.'), message: z.string() })
      .nullable()
      .describe('Why there is no reward.'),
    cost_usd: z.number().nullable().describe('null: unknown.'),
    latency_ms: z.number().nullable().describe('Of the answer and its score.'),
    trace_id: z.string().nullable().describe('null: the row was not run to an end.'),
  })
  .meta({ id: 'TriedRow' });

export const triedSchema = z
  .object({
    job_id: z.string().describe('The evaluation that ran the rows. It is archived, so lists leave it out.'),
    rows: z.array(triedRowSchema).describe('By number.'),
    mean_reward: z.number().nullable().describe('Of the rows with a reward; null: there are none.'),
    total_cost_usd: z.number().nullable().describe('Of all calls so far; null: a price is unknown.'),
    seconds: z.number(),
    diagnosis: diagnosisSchema,
    warnings: warningsSchema,
  })
  .meta({ id: 'Tried', description: 'The answers of a prompt to a few rows.' });
