/** A graph job on the wire: the body that creates it, and what it says of itself. */
import { z } from 'zod';
import {
  runAlways,
  concurrencySchema,
  containerFields,
  estimateSchema,
  jobFields,
  policySchema,
  statusSchema,
  unlessMissing,
  usageSchema,
  valueAt,
  wholeNumber,
} from '../common.js';
import { datasetProblems, type Path } from './dataset-problems.js';
import { datasetLimits, datasetSchema } from './dataset.js';
import { budgetViewSchema, estimate, historySchema, outcome, searchFields } from '../search.js';
import { candidateSchema } from '../candidates/candidate.js';
import { policyOptimizationSchema } from '../sessions/create.js';
import type { PolicySpec } from '../../core/jobs/spec.js';

const modelsSchema = z.array(policySchema.shape.model).min(1, 'must hold at least one model').max(10);

export const createGraphJobSchema = z
  .strictObject(
    {
      dataset: datasetSchema,
      policy_model: policySchema.shape.model
        .optional()
        .describe('The model that runs the graphs; this or policy_models.'),
      policy_models: modelsSchema.optional().describe('Several, among which steps of a graph may choose.'),
      policy_provider: policySchema.shape.provider.default('openai').describe('Of all policy models.'),
      proposer: policySchema
        .optional()
        .describe('The model that writes new graphs and prompts; the first policy model where absent.'),
      rollout_budget: wholeNumber(1, 10_000_000).describe(
        'Runs of a graph on a task, at most; reserved before work starts, never overshot.',
      ),
      proposer_effort: z
        .enum(['low', 'medium', 'high'], unlessMissing('must be "low", "medium" or "high"'))
        .default('medium'),
      auto_start: z.boolean().default(true).describe('false: it stays pending until it is started.'),
      // A graph's own schema says what is wrong with it: it is checked where a graph is read, not here.
      initial_graph: z
        .unknown()
        .optional()
        .describe('The graph to begin with; one step with initial_prompt where absent.'),
      rng_seed: policyOptimizationSchema.shape.rng_seed,
      budget: policyOptimizationSchema.shape.budget.describe('max_rollouts is rollout_budget by its other name.'),
      max_concurrent: containerFields.max_concurrent,
      rollout_timeout: containerFields.rollout_timeout.describe('Seconds for one run of a graph on a task.'),
      max_failure_rate: containerFields.max_failure_rate,
    },
    'must be a JSON object with dataset, policy_model and rollout_budget',
  )
  .superRefine((request: unknown, ctx) => {
    if (typeof request !== 'object' || request === null || Array.isArray(request)) return;
    const refuse = (path: Path, message: string) => ctx.addIssue({ code: 'custom', path: [...path], message });
    const at = (...path: string[]) => valueAt(request, ...path);

    const [single, models] = [at('policy_model'), at('policy_models')];
    if (single === undefined && models === undefined) refuse(['policy_model'], 'is required');
    if (single !== undefined && models !== undefined)
      refuse(['policy_models'], 'is given beside policy_model: leave one of them out');
    if (Array.isArray(models)) {
      for (const [index, model] of models.entries()) {
        if (models.indexOf(model) !== index)
          refuse(['policy_models', index], `is policy_models.${models.indexOf(model)} already`);
      }
    }
    const rollouts = at('budget', 'max_rollouts');
    if (rollouts !== undefined && rollouts !== at('rollout_budget'))
      refuse(['budget', 'max_rollouts'], 'is given twice, as rollout_budget too, and they differ');
    for (const { path, message } of datasetProblems(at('dataset'))) refuse(['dataset', ...path], message);
  }, runAlways)
  .meta({ id: 'CreateGraphJob' });
export type CreateGraphJob = z.infer<typeof createGraphJobSchema>;

/** The models that graphs may call, at least one. */
export function requestPolicies(
  request: Pick<CreateGraphJob, 'policy_model' | 'policy_models' | 'policy_provider'>,
): PolicySpec[] {
  const models = request.policy_models ?? [request.policy_model!];
  return models.map((model) => ({ model, provider: request.policy_provider, params: {} }));
}

/** Bytes of a create's body: the data set, a graph beside it, and white space. */
export const createGraphJobBytes = datasetLimits.bytes + 4 * 1024 * 1024;

/** Both names of a graph job's id. */
export const graphIdFields = {
  job_id: z.string(),
  graph_gen_job_id: z.string().describe('The same, by the name that the existing client reads.'),
};

export const graphJobCreatedSchema = z.object({
  ...graphIdFields,
  status: statusSchema.describe('running; pending where auto_start is false.'),
  num_tasks: z.int(),
  max_rollouts: z.int().describe('rollout_budget.'),
  estimate: estimateSchema,
  workflow_id: z.string(),
  temporal_url: z.string().nullable(),
});

const summary = {
  ...graphIdFields,
  ...jobFields,
  algorithm: z.string(),
  policy: z.object({ model: z.string(), provider: z.string() }).describe('The first of policy_models.'),
  policy_models: z.array(z.string()),
  verifier_mode: z.string(),
  num_tasks: z.int(),
  ...searchFields,
};

/** A graph job in a list. */
export const graphJobSummarySchema = z.object(summary).meta({ id: 'GraphJobSummary' });

/** What a graph gives, and what a run of it on a task takes. */
export const weighedSchema = z
  .object({
    candidate_id: z.string(),
    reward: z.number().describe('Mean over the evaluation tasks.'),
    cost_usd: z.number().nullable().describe('Null where the price of a call is not known.'),
    tokens: z.number().nullable().describe('Null where a provider did not say.'),
    calls: z.number(),
  })
  .meta({
    id: 'WeighedCandidate',
    description:
      'A candidate by reward and cost: means over the rollouts of its evaluation, of the calls that its steps made. Neither judge nor ' +
      'proposer are in them.',
  });

/** A graph job's status. */
export const graphJobSchema = z
  .object({
    ...summary,
    best_candidate: candidateSchema.nullable(),
    candidates: z.array(candidateSchema),
    pareto: z
      .array(weighedSchema)
      .describe(
        'The evaluated candidates for which none is at least as good and as cheap, and better in one; the cheapest first.',
      ),
    history: historySchema.describe('The best reward after each generation, from 0, the baseline, on.'),
    ...estimate,
    ...outcome,
    usage: usageSchema,
    concurrency: concurrencySchema,
    budget: budgetViewSchema,
    rollouts_resent: z.int().describe('Runs sent again after a crash; not counted against the budget.'),
  })
  .meta({ id: 'GraphJob', description: 'Its status.' });

export const graphJobStartedSchema = z.object({ ...graphIdFields, status: statusSchema });
