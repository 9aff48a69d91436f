import { z } from 'zod';
import { candidateSchema } from '../../../candidates/contract/candidate.js';
import { leverFields } from '../../../candidates/contract/levers.js';
import { shorterPromptSchema } from '../../../candidates/contract/shorter.js';
import {
  concurrencySchema,
  correlationIdSchema,
  estimateSchema,
  jobFields,
  listFields,
  messageSchema,
  statusSchema,
  usageSchema,
  warningsSchema,
} from '../../../contracts/common.js';
import {
  budgetViewSchema,
  estimate,
  historySchema,
  outcome,
  plannedComparisonSchema,
  searchFields,
} from '../../../contracts/search.js';
import { rowsViewSchema, splitSchema } from '../../../datasets/contract/rows.js';
import { agreementSchema } from '../../../contracts/agreement.js';
import { diagnosisSchema, proposalCountsSchema } from '../../../diagnosis/contract/diagnosis.js';
import { sensorFields } from './sensors.js';

const urls = {
  proxy_url: z.string().describe("The session's base URL; append /chat/completions."),
  online_url: z.string().describe('Alias of proxy_url.'),
  chat_completions_url: z.string(),
};

export const sessionCreatedSchema = z.object({
  session_id: z.string(),
  job_id: z.string(),
  status: statusSchema,
  correlation_id: z.string().optional(),
  ...urls,
  estimate: estimateSchema,
  split: splitSchema.optional(),
  planned_comparison: plannedComparisonSchema.optional().describe('Absent for live traffic.'),
  warnings: warningsSchema.optional(),
  workflow_id: z.string(),
  temporal_url: z.string().nullable(),
});

const summary = {
  session_id: z.string(),
  ...jobFields,
  algorithm: z.string(),
  correlation_id: z.string().nullable(),
  container_url: z.string().nullable().describe('null: live traffic, or a job on a data set.'),
  dataset: rowsViewSchema,
  policy: z.object({ model: z.string(), provider: z.string() }),
  ...searchFields,
};

export const sessionListItemSchema = z
  .object({ ...summary, ...listFields, estimated_reward: estimate.estimated_reward })
  .meta({ id: 'SessionListItem' });

export const sessionSchema = z
  .object({
    ...summary,
    best_candidate: candidateSchema.nullable(),
    candidates: z.array(candidateSchema),
    ...estimate,
    ...leverFields,
    ...sensorFields,
    usage: usageSchema,
    concurrency: concurrencySchema,
    traffic: z
      .object({
        compared: z
          .enum(['paired', 'unpaired'])
          .nullable()
          .describe('Whether calls name seeds, as decided by the first call; null until a call arrives.'),
        wanted: z.int().describe('Rollouts that the search waits for.'),
        claimed: z.int().describe('Wanted rollouts in progress: a call has arrived, its reward has not.'),
      })
      .nullable()
      .describe('Only for sessions with rollouts: caller; null otherwise.'),
    split: splitSchema.optional(),
    judge_agreement: agreementSchema,
    hint: z.string().nullable().describe('The hint that the proposer is given; null: none.'),
    budget: budgetViewSchema,
    rollouts_resent: z.int().describe('Rollouts repeated after a crash; not counted against the budget.'),
  })
  .meta({ id: 'Session', description: 'Live state of a session.' });

export const resultsQuerySchema = z.strictObject({
  include: z.enum(['sensor_frames']).optional().describe('sensor_frames: also the latest 50 sensor frames.'),
});

export const sessionResultsSchema = z.object({
  session_id: z.string(),
  job_id: z.string(),
  status: statusSchema,
  best_reward: searchFields.best_reward,
  best_reward_interval: searchFields.best_reward_interval,
  best_candidate: candidateSchema.nullable(),
  best_prompt: z.object({ messages: z.array(messageSchema), reward: z.number().nullable() }).nullable(),
  baseline_prompt: z
    .object({ messages: z.array(messageSchema) })
    .nullable()
    .describe('The prompt before the search; null: it runs, best_prompt is the baseline, or nothing is known.'),
  shorter_prompt: shorterPromptSchema
    .nullable()
    .describe(
      'null: nothing could be removed, the text is not open, the search did not end by max_rollouts, or the shorter form is best_prompt.',
    ),
  history: historySchema.describe('The best reward after each generation; generation 0 is the baseline.'),
  stopped_by: z.string().nullable(),
  error: z.string().nullable(),
  diagnosis: diagnosisSchema,
  proposals: proposalCountsSchema,
  ...outcome,
  judge_agreement: agreementSchema,
  usage: usageSchema,
  ...leverFields,
  ...sensorFields,
  sensor_frames: sensorFields.sensor_frames.optional(),
});

export const sessionHistorySchema = z.object({ session_id: z.string(), job_id: z.string(), history: historySchema });

export const promptQuerySchema = z.strictObject({ correlation_id: correlationIdSchema.optional() });

export const sessionPromptSchema = z.object({
  session_id: z.string(),
  job_id: z.string(),
  ...urls,
  correlation_url_template: z.string().describe('Template of chat_completions_url with your correlation id.'),
  candidate_id: z.string().nullable(),
  messages: z.array(messageSchema).describe('Empty until the baseline is known.'),
});
