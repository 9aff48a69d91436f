import { z } from 'zod';
import {
  always,
  concurrencySchema,
  containerFields,
  containerUrlSchema,
  correlationIdSchema,
  envelope,
  envNameSchema,
  estimateSchema,
  jobFields,
  messageSchema,
  policySchema,
  promptSchema,
  seedsSchema,
  statusSchema,
  unlessMissing,
  usageSchema,
  valueAt,
  wholeNumber,
} from '../common.js';
import { leverFields } from '../candidates/levers.js';
import { sensorFields } from './sensors.js';

const count = (max: number) => wholeNumber(1, max);

/** Seconds for one rollout of a container. */
const longestRollout = 3_600;

const gepaSchema = z.strictObject({
  population_size: count(500).describe('Proposals a generation.'),
  generations: count(500),
  minibatch_size: count(1_000).default(3).describe('Seeds on which a proposal is first compared with its parent.'),
  train_seeds: seedsSchema(10_000).optional().describe("Seeds to learn from; the evaluation's where absent."),
  evaluation: z.strictObject({
    seeds: seedsSchema(1_000).describe(
      'The baseline and the most promising candidates are evaluated on all of these: what best_reward is the mean of.',
    ),
    heldout_seeds: seedsSchema(1_000)
      .optional()
      .describe('Baseline and winner are compared on these when the search is over; it never sees them.'),
    repeats: count(100).default(1).describe('How often each seed is run in an evaluation, for rewards that are noisy.'),
  }),
  merge: z.boolean().default(true).describe('Whether what several accepted proposals changed is combined.'),
  component_selection: z
    .enum(['feedback', 'round_robin', 'all'])
    .default('feedback')
    .describe('Which components of a prompt a proposal rewrites: those that the feedback names, each in turn, or all.'),
});

const demosSchema = wholeNumber(0, 32).default(4);

const miproSchema = z.strictObject({
  num_candidates: count(50).describe('Instructions of each component, the original included.'),
  num_trials: count(490)
    .optional()
    .describe(
      "Combinations of instructions and demonstrations that are tried; by num_candidates where absent, as in DSPy's MIPROv2.",
    ),
  minibatch_size: count(1_000)
    .optional()
    .describe('Evaluation seeds of a trial; an eighth of them, between 5 and 35, where absent.'),
  max_bootstrapped_demos: demosSchema.describe(
    'Demonstrations in a prompt, at most, of what the model itself answered well.',
  ),
  max_labeled_demos: demosSchema.describe(
    'Demonstrations in a prompt, at most, with the right answer that the container told; bootstrapped ones count.',
  ),
  train_seeds: seedsSchema(10_000)
    .optional()
    .describe("Seeds that demonstrations and instructions are made from; the evaluation's where absent."),
  evaluation: z.strictObject({
    seeds: seedsSchema(1_000).describe(
      'The baseline and the most promising combinations are evaluated on all of these: what best_reward is the mean of.',
    ),
    heldout_seeds: seedsSchema(1_000)
      .optional()
      .describe('Baseline and winner are compared on these when the search is over; it never sees them.'),
    repeats: count(100).default(1).describe('How often each seed is run in an evaluation, for rewards that are noisy.'),
  }),
});

const budgetSchema = z.strictObject({
  max_rollouts: count(10_000_000).optional().describe('Reserved before work starts, never overshot.'),
  max_cost_usd: z
    .number()
    .gt(0)
    .max(1_000_000)
    .optional()
    .describe('Dollars of the model calls of rollouts and proposer, reserved call by call, never overshot.'),
  max_minutes: z
    .number()
    .gt(0)
    .max(43_200)
    .optional()
    .describe('Minutes of running, pauses not counted; then the session completes with its best so far.'),
});

const urlAliases = ['container_url', 'task_app_url', 'localapi_url'] as const;

const shape = z.strictObject({
  algorithm: z.enum(['gepa', 'mipro'], unlessMissing('must be "gepa" or "mipro"')),
  container_url: containerUrlSchema
    .optional()
    .describe("URL of the caller's container. Required, but for rollouts: caller."),
  task_app_url: z.string().max(2_048).optional().describe('Earlier name of container_url.'),
  localapi_url: z.string().max(2_048).optional().describe('Earlier name of container_url.'),
  policy: policySchema,
  proposer: policySchema.optional().describe('The model that writes new prompts; the policy where absent.'),
  gepa: gepaSchema.optional().describe('Required when algorithm is gepa.'),
  mipro: miproSchema.optional().describe('Required when algorithm is mipro.'),
  initial_prompt: promptSchema
    .optional()
    .describe("The baseline, each message a component to optimize; the container's own where absent."),
  rollouts: z
    .enum(['container', 'caller'])
    .default('container')
    .describe(
      'caller: your own traffic through the proxy, with rewards that you report. Calls that name their instance by x-ratchet-seed are compared seed by seed; without it only the number of seeds counts.',
    ),
  budget: budgetSchema.optional(),
  env_name: envNameSchema.optional(),
  rng_seed: wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    .default(0)
    .describe('Same seed, same answers: same result.'),
  patience: count(500)
    .optional()
    .describe('Generations in a row without an accepted proposal (mipro: without a better best) that end the session.'),
  target_reward: z.number().optional().describe('Ends the session when best_reward has reached it.'),
  ...containerFields,
  rollout_timeout: z
    .number()
    .min(1)
    .max(604_800)
    .default(120)
    .describe('Seconds for one rollout, at most 3600; of live traffic for its reward to come, at most a week.'),
});

/** The field by which a request named its container, or undefined. */
export function containerField(request: Partial<Record<(typeof urlAliases)[number], unknown>>) {
  return urlAliases.find((name) => request[name] !== undefined);
}

export const policyOptimizationSchema = shape
  .superRefine((request: unknown, ctx) => {
    if (typeof request !== 'object' || request === null || Array.isArray(request)) return;
    const refuse = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    const at = (...path: string[]) => valueAt(request, ...path);

    const urls = new Set(urlAliases.map((name) => at(name)).filter((url) => url !== undefined));
    const live = at('rollouts') === 'caller';
    if (urls.size === 0 && !live) refuse(['container_url'], 'is required');
    if (urls.size === 0 && at('container_api_key') !== undefined)
      refuse(['container_api_key'], 'is the key of a container, and no container_url is given');
    if (urls.size > 1) refuse(['container_url'], 'is given twice, by an earlier name too, and they differ');

    const [algorithm, other] = at('algorithm') === 'mipro' ? ['mipro', 'gepa'] : ['gepa', 'mipro'];
    if (at(algorithm) === undefined) refuse([algorithm], `is required when algorithm is ${algorithm}`);
    if (at(other) !== undefined) refuse([other], `is not looked at when algorithm is ${algorithm}: leave it out`);
    if (!live && typeof at('rollout_timeout') === 'number' && (at('rollout_timeout') as number) > longestRollout)
      refuse(['rollout_timeout'], `must be at most ${longestRollout}; only rewards of live traffic may take longer`);
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

const intervalSchema = z.object({ low: z.number(), high: z.number() });
/** What is expected of the most promising candidate. */
export const estimate = {
  estimated_reward: z
    .number()
    .nullable()
    .describe(
      'What is expected of the most promising candidate on the evaluation seeds; it moves between evaluations, best_reward is measured.',
    ),
  estimated_reward_interval: intervalSchema.nullable().describe('95 % interval of estimated_reward.'),
  estimated_candidate_id: z.string().nullable(),
};
/** How winner and baseline compare. */
export const outcome = {
  verdict: z
    .enum(['better', 'not_significantly_better', 'worse'])
    .nullable()
    .describe('Whether the 95 % interval of the winner less the baseline is above 0; null until the search is over.'),
  comparison: z
    .object({
      basis: z
        .enum(['heldout', 'evaluation'])
        .describe('evaluation: the seeds by which the winner was chosen, so the difference is flattered.'),
      seeds: z.int(),
      baseline_reward: z.number(),
      winner_reward: z.number(),
      difference: z.number(),
      interval: intervalSchema,
    })
    .nullable()
    .describe('Winner and baseline on the same seeds, pair by pair; of live traffic without seeds two samples.'),
  noise_floor: z
    .object({
      rollout_sd: z.number().describe('Standard deviation of equal rollouts.'),
      comparisons: z.int().describe('How many comparisons of equal rollouts it rests on.'),
      reward_se: z.number().describe('The standard error that noise alone gives a mean on the evaluation seeds.'),
    })
    .nullable()
    .describe('Null: no rollout was repeated.'),
};

export const historySchema = z.array(z.object({ generation: z.int(), best_reward: z.number() }));

/** How far a search is, in every list of jobs that search. */
export const searchFields = {
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

const summary = {
  session_id: z.string(),
  ...jobFields,
  algorithm: z.string(),
  correlation_id: z.string().nullable(),
  container_url: z.string().nullable().describe('null: its rollouts are live traffic.'),
  policy: z.object({ model: z.string(), provider: z.string() }),
  ...searchFields,
};

/** A session in a list. */
export const sessionSummarySchema = z.object(summary).meta({ id: 'SessionSummary' });

/** How a search's budgets stand. */
export const budgetViewSchema = z.object({
  max_rollouts: z.int().nullable(),
  max_minutes: z.number().nullable(),
  max_cost_usd: z.number().nullable(),
  spent_usd: z.number().nullable().describe('Of max_cost_usd; what a call cost that broke off counts in full.'),
  reserved_usd: z.number().nullable().describe('What calls under way can cost at most.'),
});

/** A session's live state. */
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
          .describe('By the seeds that calls name, or without, as the first call decided; null: none has come.'),
        wanted: z.int().describe('Rollouts that the search waits for.'),
        claimed: z.int().describe('Those of them that are under way: a call has come, its reward has not.'),
      })
      .nullable()
      .describe('Of a session with rollouts: caller.'),
    budget: budgetViewSchema,
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
  ...outcome,
  usage: usageSchema,
  ...leverFields,
  ...sensorFields,
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
