/** Graph jobs: create request and views. */
import { z } from 'zod';
import {
  concurrencySchema,
  containerFields,
  estimateSchema,
  jobFields,
  listFields,
  policySchema,
  policyWithDefault,
  statusSchema,
  usageSchema,
  warningsSchema,
} from '../../../contracts/common.js';
import { envelopeLabelFields } from '../../../contracts/labels.js';
import { oneRequired, required } from '../../../contracts/rules.js';
import { webhookField } from '../../../contracts/webhook.js';
import { runAlways, unlessMissing, unusedSchema, valueAt, wholeNumber } from '../../../contracts/validation.js';
import { datasetProblems, type Path } from './dataset-problems.js';
import { datasetLimits, datasetSchema, type TaskedDataset } from './dataset.js';
import { rowsViewSchema, splitSchema } from '../../../datasets/contract/rows.js';
import {
  budgetViewSchema,
  estimate,
  historySchema,
  outcome,
  plannedComparisonSchema,
  searchFields,
} from '../../../contracts/search.js';
import { candidateSchema } from '../../../candidates/contract/candidate.js';
import { policyOptimizationSchema } from '../../session/contract/create.js';
import type { PolicySpec } from '../../../core/jobs/policy.js';
import { diagnosisSchema, proposalCountsSchema } from '../../../diagnosis/contract/diagnosis.js';
import { isObject } from '../../../util/json.js';

const modelsSchema = z.array(policySchema.shape.model).min(1, 'must hold at least one model').max(10);

/** The rules between fields of a request that names a graph, its models and its data. */
export function checkGraphRequest(request: unknown, ctx: z.RefinementCtx): void {
  if (!isObject(request)) return;
  const refuse = (path: Path, message: string) => ctx.addIssue({ code: 'custom', path: [...path], message });
  const at = (...path: string[]) => valueAt(request, ...path);

  const [single, models] = [at('policy_model'), at('policy_models')];
  if (single === undefined && models === undefined) refuse(['policy_model'], 'is required');
  if (single !== undefined && models !== undefined)
    refuse(['policy_models'], 'must not be given together with policy_model');
  if (Array.isArray(models)) {
    for (const [index, model] of models.entries()) {
      if (models.indexOf(model) !== index)
        refuse(['policy_models', index], `repeats policy_models.${models.indexOf(model)}`);
    }
  }
  const rollouts = at('budget', 'max_rollouts');
  if (rollouts !== undefined && rollouts !== at('rollout_budget'))
    refuse(['budget', 'max_rollouts'], 'differs from rollout_budget; give only one of them');
  if (at('initial_graph_id') !== undefined && at('initial_graph') !== undefined)
    refuse(['initial_graph_id'], 'must not be given together with initial_graph');
  const hasJudge = at('judge_model') !== undefined;
  for (const { path, message } of datasetProblems(at('dataset'), hasJudge)) refuse(['dataset', ...path], message);
}

/** The same for the document. */
export const graphRules = {
  ...oneRequired('policy_model', 'policy_models'),
  not: required('initial_graph', 'initial_graph_id'),
};

export const createGraphJobSchema = z
  .strictObject(
    {
      dataset: datasetSchema,
      policy_model: policySchema.shape.model
        .optional()
        .describe('The model that runs the graphs. Exactly one of this and policy_models.'),
      policy_models: modelsSchema.optional().describe('Models that the steps of a graph may use.'),
      policy_provider: policySchema.shape.provider.default('openai').describe('Provider of all policy models.'),
      proposer: policyWithDefault('Default: policy_provider.')
        .optional()
        .describe('The model that writes new graphs and prompts. Default: the first policy model.'),
      rollout_budget: wholeNumber(1, 10_000_000).describe(
        'Maximum runs of a graph on a task. Reserved before work starts, never exceeded.',
      ),
      proposer_effort: z
        .enum(['low', 'medium', 'high'], unlessMissing('must be "low", "medium" or "high"'))
        .default('medium')
        .describe('How many proposals the search may pay for, and how much of the traces they are shown.'),
      auto_start: z.boolean().default(true).describe('false: the job stays pending until it is started.'),
      // The graph is validated when it is parsed, not here.
      initial_graph: z.unknown().optional().describe('The initial graph. Default: one step with initial_prompt.'),
      initial_graph_id: z
        .literal('single', unlessMissing('must be "single", the graph of one step; give your own as initial_graph'))
        .optional()
        .describe('Of the existing client: the graph of one step, which is the default.'),
      initial_prompt: z.null(unlessMissing('must be inside dataset: dataset.initial_prompt')).optional(),
      problem_spec: z
        .string()
        .max(datasetLimits.textChars)
        .optional()
        .describe('What the task is, for the proposer, beside the description in dataset.metadata.'),
      judge_model: policySchema.shape.model.optional().describe('Overrides dataset.verifier_config.model.'),
      judge_provider: policySchema.shape.provider.optional().describe('Overrides dataset.verifier_config.provider.'),
      target_llm_calls: unusedSchema,
      eval_sample_size: unusedSchema,
      feedback_sample_size: unusedSchema,
      rng_seed: policyOptimizationSchema.shape.rng_seed,
      budget: policyOptimizationSchema.shape.budget.describe('max_rollouts is another name of rollout_budget.'),
      max_concurrent: containerFields.max_concurrent,
      rollout_timeout: containerFields.rollout_timeout.describe('Seconds per run of a graph on a task.'),
      max_failure_rate: containerFields.max_failure_rate,
      preflight: containerFields.preflight,
      answer_cache: containerFields.answer_cache,
      ...envelopeLabelFields,
      ...webhookField,
    },
    'must be a JSON object with dataset, policy_model and rollout_budget',
  )
  .superRefine(checkGraphRequest, runAlways)
  .meta({ id: 'CreateGraphJob', ...graphRules });
export type CreateGraphJob = z.infer<typeof createGraphJobSchema>;

/** A request with its tasks: its own, or those of the rows. */
export type TaskedGraphJob = CreateGraphJob & { dataset: TaskedDataset };

export function requestPolicies(
  request: Pick<CreateGraphJob, 'policy_model' | 'policy_models' | 'policy_provider'>,
): PolicySpec[] {
  const models = request.policy_models ?? [request.policy_model!];
  return models.map((model) => ({ model, provider: request.policy_provider, params: {} }));
}

/** Maximum bytes of a create request: the data set, a graph and white space. */
export const createGraphJobBytes = datasetLimits.bytes + 4 * 1024 * 1024;

/** Both names of a graph job's id. */
export const graphIdFields = {
  job_id: z.string(),
  graph_gen_job_id: z.string().describe('Same as job_id, under the name that the existing client reads.'),
};

export const graphJobCreatedSchema = z.object({
  ...graphIdFields,
  graph_evolve_job_id: z.string().describe('Same as job_id, under another name that the existing client reads.'),
  status: statusSchema.describe('running, or pending if auto_start is false.'),
  num_tasks: z.int(),
  max_rollouts: z.int().describe('rollout_budget.'),
  estimate: estimateSchema,
  planned_comparison: plannedComparisonSchema,
  warnings: warningsSchema.optional(),
  workflow_id: z.string(),
  temporal_url: z.string().nullable(),
});

const summary = {
  ...graphIdFields,
  ...jobFields,
  algorithm: z.string(),
  policy: z.object({ model: z.string(), provider: z.string() }).describe('The first policy model.'),
  policy_models: z.array(z.string()),
  verifier_mode: z.string(),
  num_tasks: z.int(),
  dataset: rowsViewSchema,
  ...searchFields,
};

export const graphJobListItemSchema = z
  .object({ ...summary, ...listFields, estimated_reward: estimate.estimated_reward })
  .meta({ id: 'GraphJobListItem' });

/** A candidate's reward and the cost of a run. */
export const weighedSchema = z
  .object({
    candidate_id: z.string(),
    reward: z.number().describe('Mean over the evaluation tasks.'),
    cost_usd: z.number().nullable().describe('null if the price of a call is unknown.'),
    tokens: z.number().nullable().describe('null if a provider did not report them.'),
    calls: z.number(),
  })
  .meta({
    id: 'WeighedCandidate',
    description:
      'Reward and cost of a candidate: means over the rollouts of its evaluation. Cost, tokens and calls ' +
      'are those of its steps, without judge and proposer.',
  });

export const graphJobSchema = z
  .object({
    ...summary,
    best_candidate: candidateSchema.nullable(),
    candidates: z.array(candidateSchema),
    pareto: z
      .array(weighedSchema)
      .describe('The evaluated candidates that are not dominated in reward and cost, cheapest first.'),
    history: historySchema.describe('The best reward after each generation; generation 0 is the baseline.'),
    ...estimate,
    diagnosis: diagnosisSchema,
    proposals: proposalCountsSchema,
    ...outcome,
    usage: usageSchema,
    concurrency: concurrencySchema,
    budget: budgetViewSchema,
    split: splitSchema.describe('The tasks of each part, by their indexes in the data set.'),
    rollouts_resent: z.int().describe('Runs repeated after a crash; not counted against the budget.'),
  })
  .meta({ id: 'GraphJob', description: 'Status of a graph job.' });

export const graphJobStartedSchema = z.object({ ...graphIdFields, status: statusSchema });
