/** A prompt or a graph on a few rows, answered at once. */
import { z } from 'zod';
import { policySchema, warningsSchema } from '../../../contracts/common.js';
import { withRule } from '../../../contracts/field-rules.js';
import { runAlways, valueAt, wholeNumber } from '../../../contracts/validation.js';
import { sourceRule } from '../../../datasets/contract/rows.js';
import { diagnosisSchema } from '../../../diagnosis/contract/diagnosis.js';
import { checkGraphRequest, createGraphJobSchema, graphRules } from '../../graph/contract/job.js';
import { evaluationFields, ofContainer, ofRows } from './evaluation.js';

export const mostTried = 20;
/** Clients and proxies give a request a minute. */
const longestTryS = 50;

/** The fields of every try. */
const tryFields = {
  timeout: z
    .number()
    .gt(0)
    .max(longestTryS)
    .default(longestTryS)
    .describe('Seconds after which the answer has the rows so far; the others are timed_out.'),
  rows: wholeNumber(1, mostTried).default(5).describe('How many rows, drawn at random: the same ones each time.'),
};

const { preflight: _preflight, max_failure_rate: _rate, ...fields } = evaluationFields;

export const trySchema = withRule(
  z.strictObject(
    {
      ...fields,
      policy: policySchema,
      seeds: fields.seeds.describe('The rows are taken from these. Default with dataset: all rows.'),
      ...tryFields,
    },
    'must be a JSON object with dataset, scorer, policy and candidate',
  ),
  sourceRule({ container: ofContainer, rows: ofRows }),
  'Try',
);
export type TryRequest = z.infer<typeof trySchema>;

const of = createGraphJobSchema.shape;

export const tryGraphSchema = z
  .strictObject(
    {
      dataset: of.dataset,
      policy_model: of.policy_model,
      policy_models: of.policy_models,
      policy_provider: of.policy_provider,
      initial_graph: of.initial_graph,
      initial_graph_id: of.initial_graph_id,
      judge_model: of.judge_model,
      judge_provider: of.judge_provider,
      budget: fields.budget,
      max_concurrent: of.max_concurrent,
      rollout_timeout: of.rollout_timeout,
      answer_cache: of.answer_cache,
      ...tryFields,
    },
    'must be a JSON object with dataset and policy_model',
  )
  .superRefine(checkGraphRequest, runAlways)
  .meta({ id: 'GraphTry', ...graphRules });
export type TryGraphRequest = z.infer<typeof tryGraphSchema>;

export const anyTrySchema = z.union([trySchema, tryGraphSchema]);

/** Fields that a try of a prompt does not have. */
const ofGraphs = ['policy_model', 'policy_models', 'policy_provider', 'initial_graph'];

/** Whether a body is meant as a try of a graph. */
export const isGraphTry = (body: unknown): body is TryGraphRequest =>
  ofGraphs.some((name) => valueAt(body, name) !== undefined) ||
  valueAt(body, 'dataset', 'verifier_config') !== undefined;

const cut = 'cut at 2,000 characters';

const triedRowSchema = z
  .object({
    row: z.int().describe('Number of the row or task, from 0; of a container the seed.'),
    text: z.string().nullable().describe(`The input column, or the row or task as JSON; null: a container; ${cut}.`),
    expected: z.string().nullable().describe(`null: none; ${cut}.`),
    answer: z.string().nullable().describe(`null: the model gave none; ${cut}.`),
    reward: z.number().nullable(),
    feedback: z.string().nullable().describe(`What the scorer says; ${cut}.`),
    finish_reason: z
      .string()
      .nullable()
      .describe('Why the answer, or the last call of a graph, ended: such as stop or length.'),
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
    job_id: z
      .string()
      .describe('The evaluation, or the graph job, that ran the rows. It is archived, so lists leave it out.'),
    rows: z.array(triedRowSchema).describe('By number.'),
    mean_reward: z.number().nullable().describe('Of the rows with a reward; null: there are none.'),
    total_cost_usd: z.number().nullable().describe('Of all calls so far; null: a price is unknown.'),
    seconds: z.number(),
    diagnosis: diagnosisSchema,
    warnings: warningsSchema,
  })
  .meta({ id: 'Tried', description: 'The answers of a prompt or a graph to a few rows.' });
