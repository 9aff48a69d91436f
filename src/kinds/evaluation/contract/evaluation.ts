import { reviewSchema } from '../../../contracts/review.js';
import { z } from 'zod';
import {
  concurrencySchema,
  containerFields,
  containerUrlSchema,
  correlationIdSchema,
  ignoredFields,
  envNameSchema,
  estimateSchema,
  jobFields,
  listFields,
  policySchema,
  statusSchema,
  timestamp,
  usageSchema,
  warningsSchema,
} from '../../../contracts/common.js';
import { fixedMessagesSchema } from '../../../contracts/prompt.js';
import { rowsSchema, rowsViewSchema, sourceRule } from '../../../datasets/contract/rows.js';
import { withRule } from '../../../contracts/field-rules.js';
import { agreementSchema } from '../../../contracts/agreement.js';
import { scorerSchema } from '../../../scorers/index.js';
import { envelopeLabelFields, labelFields } from '../../../contracts/labels.js';
import { all, either, forbidden, required } from '../../../contracts/rules.js';
import { webhookField } from '../../../contracts/webhook.js';
import { seedsSchema } from '../../../contracts/seeds.js';
import { phaseSchema } from '../../../contracts/phase.js';
import { costBudgetSchema, intervalSchema } from '../../../contracts/search.js';
import { diagnosisSchema } from '../../../diagnosis/contract/diagnosis.js';
import { wholeParameter } from '../../../contracts/validation.js';
import { rowFilterFields, rowGroupSchema } from '../../../rows/contract/rows.js';
import { sessionBudgetSchema } from '../../session/contract/create.js';

const sevenDays = 7 * 24 * 3_600;

const candidateSchema = z
  .strictObject({
    session_id: z.string().min(1).max(100).optional(),
    candidate_id: z.string().min(1).max(100).optional().describe("Default: the session's best candidate."),
    messages: fixedMessagesSchema.optional(),
  })
  .superRefine((candidate, ctx) => {
    const refuse = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    if ((candidate.session_id === undefined) === (candidate.messages === undefined)) {
      refuse([], 'must have exactly one of session_id (optionally with candidate_id) and messages');
    }
    if (candidate.candidate_id !== undefined && candidate.session_id === undefined) {
      refuse(['candidate_id'], 'requires session_id');
    }
  })
  .meta(
    either(
      all(required('session_id'), forbidden('messages')),
      all(required('messages'), forbidden('session_id', 'candidate_id')),
    ),
  );
export type CandidateChoice = z.infer<typeof candidateSchema>;

export const evaluationFields = {
  container_url: containerUrlSchema.optional().describe("URL of the caller's container. Required without dataset."),
  env_name: envNameSchema
    .optional()
    .describe('Data set split or configuration, passed to the container. Required with container_url.'),
  dataset: rowsSchema
    .optional()
    .describe('Rows in place of a container: the candidate is filled with each row, and scorer scores the answer.'),
  scorer: scorerSchema.optional().describe('How answers to the rows of dataset are scored.'),
  seeds: seedsSchema(10_000)
    .optional()
    .describe('Run in this order; a repeated seed runs again. Default with dataset: all rows.'),
  policy: policySchema,
  timeout: z.number().gt(0).max(sevenDays).default(600).describe('Seconds for the whole job, without pauses.'),
  budget: z
    .strictObject({
      max_cost_usd: sessionBudgetSchema.shape.max_cost_usd.describe(
        'Maximum dollars for model calls of rollouts and judges. Reserved per call, never exceeded. The evaluation fails when it is spent, and keeps its results so far.',
      ),
    })
    .optional(),
  candidate: candidateSchema
    .optional()
    .describe("The candidate whose texts every call gets. Default: the container's own prompt."),
  ...containerFields,
};

export const ofContainer = ['container_url', 'env_name', 'seeds'];
export const ofRows = ['scorer', 'candidate'];

const appId = z.string().min(1).max(200).describe('Groups jobs.');

const bodyRule = 'must be a JSON object with container_url, app_id, env_name, seeds and policy';

export const flatEvaluationSchema = withRule(
  z.strictObject({ ...evaluationFields, app_id: appId.optional(), ...labelFields, ...webhookField }, bodyRule),
  sourceRule({ container: [...ofContainer, 'app_id'], rows: ofRows }),
  'CreateEvaluation',
);

/** Create request in the existing client's wrapper. */
export const wrappedEvaluationSchema = z
  .strictObject({
    config: withRule(
      z.strictObject({ ...evaluationFields, app_id: appId.default('default') }, bodyRule),
      sourceRule({ container: ofContainer, rows: ofRows }),
      'EvaluationConfig',
    ),
    ...envelopeLabelFields,
    ...webhookField,
    ...ignoredFields,
    correlation_id: correlationIdSchema.nullish().describe('Ignored.'),
  })
  .meta({ id: 'WrappedEvaluation' });

export const createEvaluationSchema = z.union([flatEvaluationSchema, wrappedEvaluationSchema]);
export type EvaluationRequest = z.infer<typeof flatEvaluationSchema>;

export function evaluationSchemaFor(body: unknown): z.ZodType {
  return typeof body === 'object' && body !== null && 'config' in body ? wrappedEvaluationSchema : flatEvaluationSchema;
}

export const evaluationCreatedSchema = z.object({
  job_id: z.string(),
  status: statusSchema,
  estimate: estimateSchema,
  warnings: warningsSchema.optional(),
  workflow_id: z.string(),
  temporal_url: z.string().nullable(),
});

const totals = {
  mean_reward: z.number().nullable().describe('Mean over succeeded rollouts; null if there are none.'),
  mean_reward_interval: intervalSchema
    .nullable()
    .describe('95 % interval of mean_reward, for unseen rows of the same kind.'),
  total_tokens: z.int().nullable().describe('null if a call did not tell its tokens.'),
  total_cost_usd: z.number().nullable().describe('null if a price is unknown.'),
};

export const evaluationSummarySchema = z.object({
  ...totals,
  num_seeds: z.int(),
  num_successful: z.int(),
  num_failed: z.int(),
});

const summary = {
  ...jobFields,
  app_id: z.string(),
  env_name: z.string(),
  container_url: z.string().nullable().describe('null: a job on a data set.'),
  dataset: rowsViewSchema,
  policy: z.object({ model: z.string(), provider: z.string() }),
  num_seeds: z.int(),
  progress: z.object({ completed: z.int(), total: z.int(), phase: phaseSchema }),
};

export const evaluationListItemSchema = z
  .object({ ...summary, ...listFields, mean_reward: totals.mean_reward })
  .meta({ id: 'EvaluationListItem' });

export const evaluationSchema = z
  .object({
    ...summary,
    results: z.object(totals).optional().describe('Present when completed.'),
    summary: evaluationSummarySchema.describe('Results so far.'),
    diagnosis: diagnosisSchema,
    judge_agreement: agreementSchema,
    candidate: z.object({ session_id: z.string().nullable(), candidate_id: z.string().nullable() }).nullable(),
    usage: usageSchema,
    concurrency: concurrencySchema,
    budget: costBudgetSchema,
    rollouts_resent: z.int(),
  })
  .meta({ id: 'Evaluation', description: 'Status of an evaluation.' });

const cut = 'cut at 2,000 characters';

/** Query of the results. The filter of rows is for results with outputs. */
export const evaluationResultsQuerySchema = z.strictObject({
  include: z.enum(['outputs']).optional().describe('outputs: also the texts of each result, in pages.'),
  limit: wholeParameter(1, 500).optional().describe('With include=outputs; default 100.'),
  offset: wholeParameter(0, 10_000).optional().describe('With include=outputs; default 0.'),
  ...rowFilterFields,
});

const outputFields = {
  output: z.string().nullable().optional().describe(`With include=outputs: the last answer of the policy, ${cut}.`),
  output_truncated: z.boolean().optional().describe('With include=outputs.'),
  feedback: z.string().nullable().optional().describe(`With include=outputs: ${cut}.`),
  input: z
    .string()
    .nullable()
    .optional()
    .describe(`With include=outputs, on a data set: the input column, or the row as JSON; ${cut}.`),
  expected: z.string().nullable().optional().describe(`With include=outputs, on a data set: ${cut}.`),
  group: rowGroupSchema.optional().describe('With include=outputs.'),
  reviews: z.array(reviewSchema).optional().describe('With include=outputs: what people say of it, oldest first.'),
};

const seedResultSchema = z.object({
  seed: z.int(),
  status: z.enum(['succeeded', 'failed']),
  reward: z.number().nullable(),
  latency_ms: z.number().nullable(),
  tokens: z.int().nullable().describe('null if a call did not tell its tokens.'),
  cost_usd: z.number().nullable(),
  trace_id: z.string(),
  error: z.string().nullable(),
  completed_at: timestamp.nullable(),
  ...outputFields,
});

export const evaluationResultsSchema = z.object({
  job_id: z.string(),
  status: statusSchema,
  summary: evaluationSummarySchema,
  judge_agreement: agreementSchema,
  results: z.array(seedResultSchema).describe('Finished seeds in the order of the request.'),
  total: z.int().optional().describe('With include=outputs: all results that pass the filter.'),
});
