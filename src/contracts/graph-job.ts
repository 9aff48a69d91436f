/** The create body of a graph job. */
import { z } from 'zod';
import { always, containerFields, policySchema, unlessMissing, valueAt, wholeNumber } from './common.js';
import { datasetProblems, type Path } from './dataset-problems.js';
import { datasetSchema } from './graph-dataset.js';
import { policyOptimizationSchema } from './session.js';
import type { PolicySpec } from './spec.js';

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
    },
    'must be a JSON object with dataset, policy_model and rollout_budget',
  )
  .superRefine((request: unknown, ctx) => {
    if (typeof request !== 'object' || request === null || Array.isArray(request)) return;
    const refuse = (path: Path, message: string) => ctx.addIssue({ code: 'custom', path: [...path], message });
    const at = (...path: string[]) => valueAt(request, ...path);

    const [one, several] = [at('policy_model'), at('policy_models')];
    if (one === undefined && several === undefined) refuse(['policy_model'], 'is required');
    if (one !== undefined && several !== undefined)
      refuse(['policy_models'], 'is given beside policy_model: leave one of them out');
    if (Array.isArray(several)) {
      for (const [place, model] of several.entries()) {
        if (several.indexOf(model) !== place)
          refuse(['policy_models', place], `is policy_models.${several.indexOf(model)} already`);
      }
    }
    const rollouts = at('budget', 'max_rollouts');
    if (rollouts !== undefined && rollouts !== at('rollout_budget'))
      refuse(['budget', 'max_rollouts'], 'is given twice, as rollout_budget too, and they differ');
    for (const { path, message } of datasetProblems(at('dataset'))) refuse(['dataset', ...path], message);
  }, always)
  .meta({ id: 'CreateGraphJob' });
export type CreateGraphJob = z.infer<typeof createGraphJobSchema>;

/** The models that graphs may call, at least one. */
export function policiesOf(
  request: Pick<CreateGraphJob, 'policy_model' | 'policy_models' | 'policy_provider'>,
): PolicySpec[] {
  const models = request.policy_models ?? [request.policy_model!];
  return models.map((model) => ({ model, provider: request.policy_provider, params: {} }));
}
