import { z } from 'zod';
import {
  always,
  containerFields,
  containerUrlSchema,
  correlationIdSchema,
  envelope,
  envNameSchema,
  estimateSchema,
  jobFields,
  messageSchema,
  notSupportedYet,
  policySchema,
  promptSchema,
  seedsSchema,
  statusSchema,
  unlessMissing,
  usageSchema,
  valueAt,
  wholeNumber,
} from './common.js';

const count = (max: number) => wholeNumber(1, max);

const gepaSchema = z.strictObject({
  population_size: count(500).describe('Proposals a generation.'),
  generations: count(500),
  minibatch_size: count(1_000).default(3).describe('Seeds on which a proposal is first compared with its parent.'),
  train_seeds: seedsSchema(10_000).optional().describe("Seeds to learn from; the evaluation's where absent."),
  evaluation: z.strictObject({
    seeds: seedsSchema(1_000).describe('Every accepted candidate is evaluated on all of these.'),
    heldout_seeds: z.unknown().optional().describe('Not supported yet.'),
    repeats: z.unknown().optional().describe('Not supported yet, but for 1.'),
  }),
  merge: z.boolean().optional().describe('Not supported yet, but for false.'),
});

const budgetSchema = z.strictObject({
  max_rollouts: count(10_000_000).optional().describe('Reserved before work starts, never overshot.'),
  max_cost_usd: z.unknown().optional().describe('Not supported yet.'),
  max_minutes: z.unknown().optional().describe('Not supported yet.'),
});

const urlAliases = ['container_url', 'task_app_url', 'localapi_url'] as const;

const shape = z.strictObject({
  algorithm: z.enum(['gepa', 'mipro'], unlessMissing('must be "gepa" or "mipro"')),
  container_url: containerUrlSchema.optional().describe("URL of the caller's container. Required."),
  task_app_url: z.string().max(2_048).optional().describe('Earlier name of container_url.'),
  localapi_url: z.string().max(2_048).optional().describe('Earlier name of container_url.'),
  policy: policySchema,
  proposer: policySchema.optional().describe('The model that writes new prompts; the policy where absent.'),
  gepa: gepaSchema.optional().describe('Required when algorithm is gepa.'),
  mipro: z.unknown().optional().describe('Not supported yet.'),
  initial_prompt: promptSchema.optional().describe("The baseline; the container's own where absent."),
  rollouts: z.enum(['container', 'caller']).default('container').describe('caller is not supported yet.'),
  budget: budgetSchema.optional(),
  env_name: envNameSchema.optional(),
  rng_seed: wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    .default(0)
    .describe('Same seed, same answers: same result.'),
  patience: z.unknown().optional().describe('Not supported yet.'),
  target_reward: z.unknown().optional().describe('Not supported yet.'),
  ...containerFields,
});

/** The field by which a request named its container, or undefined. */
export function containerField(request: Partial<Record<(typeof urlAliases)[number], unknown>>) {
  return urlAliases.find((name) => request[name] !== undefined);
}

export const policyOptimizationSchema = shape
  .superRefine((request: unknown, ctx) => {
    if (typeof request !== 'object' || request === null || Array.isArray(request)) return;
    const refuse = (path: string[], message: string, code?: string) =>
      ctx.addIssue({ code: 'custom', path, message, ...(code ? { params: { code } } : {}) });
    const at = (...path: string[]) => valueAt(request, ...path);
    const later = (path: string[], holds = at(...path) !== undefined, message = 'is not supported yet') => {
      if (holds) refuse(path, message, notSupportedYet);
    };

    const urls = new Set(urlAliases.map((name) => at(name)).filter((url) => url !== undefined));
    if (urls.size === 0) refuse(['container_url'], 'is required');
    if (urls.size > 1) refuse(['container_url'], 'is given twice, by an earlier name too, and they differ');

    const mipro = at('algorithm') === 'mipro';
    if (!mipro && at('gepa') === undefined) refuse(['gepa'], 'is required when algorithm is gepa');
    later(['algorithm'], mipro, 'mipro is not supported yet; use gepa');
    later(['mipro'], !mipro && at('mipro') !== undefined);
    later(['rollouts'], at('rollouts') === 'caller', 'caller is not supported yet; use container');
    later(['patience']);
    later(['target_reward']);
    later(['budget', 'max_cost_usd']);
    later(['budget', 'max_minutes']);
    later(['gepa', 'merge'], at('gepa', 'merge') === true);
    later(['gepa', 'evaluation', 'heldout_seeds']);
    const repeats = at('gepa', 'evaluation', 'repeats');
    later(['gepa', 'evaluation', 'repeats'], repeats !== undefined && repeats !== 1);
  }, always)
  .meta({ id: 'PolicyOptimization' });
export type PolicyOptimization = z.infer<typeof policyOptimizationSchema>;

const optimization = {
  policy_optimization: policyOptimizationSchema.optional(),
  prompt_learning: policyOptimizationSchema.optional().describe('Earlier name of policy_optimization.'),
};

/** Every place where a session's body may hold its request, with the path to it. */
export function optimizationsIn(body: unknown): { path: string[]; request: unknown }[] {
  return [[], ['config_body'], ['config']]
    .flatMap((holder) => Object.keys(optimization).map((name) => [...holder, name]))
    .map((path) => ({ path, request: valueAt(body, ...path) }))
    .filter(({ request }) => request !== undefined);
}

export const createSessionSchema = z
  .strictObject(
    {
      ...optimization,
      config_body: z
        .strictObject(optimization)
        .nullish()
        .describe('policy_optimization, as an existing client wraps it.'),
      config: z.strictObject(optimization).nullish().describe('policy_optimization, as an existing client wraps it.'),
      ...envelope,
      correlation_id: correlationIdSchema.nullish().describe('Yours, to find the session by; answered as given.'),
    },
    'must be a JSON object with policy_optimization',
  )
  .superRefine((body: unknown, ctx) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
    const [first, second] = optimizationsIn(body);
    const refuse = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    if (!first) refuse(['policy_optimization'], 'is required');
    if (second) refuse(second.path, `is given twice: also as ${first!.path.join('.')}`);
  }, always);
export type CreateSession = z.infer<typeof createSessionSchema>;

const urls = {
  proxy_url: z.string().describe('Base of the session, to append /chat/completions to.'),
  online_url: z.string().describe('The same, by its other name.'),
  chat_completions_url: z.string(),
};

export const sessionCreatedSchema = z.object({
  session_id: z.string(),
  job_id: z.string(),
  status: statusSchema,
  correlation_id: z.string().optional(),
  ...urls,
  estimate: estimateSchema,
  warnings: z.array(z.string()).optional(),
  workflow_id: z.string(),
  temporal_url: z.string().nullable(),
});

export const candidateSchema = z
  .object({
    candidate_id: z.string(),
    parent_ids: z.array(z.string()),
    generation: z.int(),
    status: z.enum(['proposed', 'rejected', 'evaluated']),
    reward: z.number().nullable().describe('Mean over the evaluation seeds; null until evaluated.'),
    avg_reward: z.number().nullable().describe('Mean over everything it was run on, minibatches included.'),
    rollout_count: z.int(),
    is_baseline: z.boolean(),
    lever_version: z.int(),
  })
  .meta({ id: 'Candidate' });

const versions = z.record(z.string(), z.int());
const levers = {
  lever_summary: z.object({
    prompt_lever_id: z.string(),
    candidate_lever_versions: versions,
    best_candidate_id: z.string().nullable(),
    selected_candidate_id: z.string().nullable(),
    baseline_candidate_id: z.string().nullable(),
    lever_count: z.int(),
    mutation_count: z.int(),
    latest_version: z.int().nullable(),
  }),
  lever_versions: versions.describe('The prompt lever at the version of the best candidate.'),
  best_lever_version: z.int().nullable(),
};

const historySchema = z.array(z.object({ generation: z.int(), best_reward: z.number() }));

const summary = {
  session_id: z.string(),
  ...jobFields,
  algorithm: z.string(),
  correlation_id: z.string().nullable(),
  container_url: z.string(),
  policy: z.object({ model: z.string(), provider: z.string() }),
  progress: z.object({
    generation: z.int(),
    total_generations: z.int(),
    best_reward: z.number().nullable(),
    rollouts_completed: z.int(),
    max_rollouts: z.int().nullable(),
  }),
  best_reward: z.number().nullable(),
  best_candidate: z.object({ candidate_id: z.string() }).nullable(),
};

/** A session in a list. */
export const sessionSummarySchema = z.object(summary).meta({ id: 'SessionSummary' });

/** A session's live state. */
export const sessionSchema = z
  .object({
    ...summary,
    best_candidate: candidateSchema.nullable(),
    candidates: z.array(candidateSchema),
    ...levers,
    usage: usageSchema,
    rollouts_resent: z.int().describe('Rollouts sent again after a crash; not counted against the budget.'),
  })
  .meta({ id: 'Session', description: 'Its live state.' });

export const sessionResultsSchema = z.object({
  session_id: z.string(),
  job_id: z.string(),
  status: statusSchema,
  best_reward: z.number().nullable(),
  best_candidate: candidateSchema.nullable(),
  best_prompt: z.object({ messages: z.array(messageSchema), reward: z.number().nullable() }).nullable(),
  history: historySchema.describe('The best reward after each generation, from 0, the baseline, on.'),
  stopped_by: z.string().nullable(),
  error: z.string().nullable(),
  usage: usageSchema,
  ...levers,
});

export const sessionHistorySchema = z.object({ session_id: z.string(), job_id: z.string(), history: historySchema });

export const promptQuerySchema = z.strictObject({ correlation_id: correlationIdSchema.optional() });

export const sessionPromptSchema = z.object({
  session_id: z.string(),
  job_id: z.string(),
  ...urls,
  correlation_url_template: z.string().describe('chat_completions_url for a correlation id of yours.'),
  candidate_id: z.string().nullable(),
  messages: z.array(messageSchema).describe('Empty until the baseline is known.'),
});
