import { z } from 'zod';
import {
  runAlways,
  containerFields,
  containerUrlSchema,
  correlationIdSchema,
  envelope,
  envNameSchema,
  policySchema,
  promptSchema,
  seedsSchema,
  unlessMissing,
  valueAt,
  wholeNumber,
} from '../common.js';

const count = (max: number) => wholeNumber(1, max);

/** Seconds for one rollout of a container. */
const maxRolloutSeconds = 3_600;

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
    if (!live && typeof at('rollout_timeout') === 'number' && (at('rollout_timeout') as number) > maxRolloutSeconds)
      refuse(['rollout_timeout'], `must be at most ${maxRolloutSeconds}; only rewards of live traffic may take longer`);
  }, runAlways)
  .meta({ id: 'PolicyOptimization' });
export type PolicyOptimization = z.infer<typeof policyOptimizationSchema>;

const optimization = {
  policy_optimization: policyOptimizationSchema.optional(),
  prompt_learning: policyOptimizationSchema.optional().describe('Earlier name of policy_optimization.'),
};

/** Every place where a session's body may hold its request, with the path to it. */
export function findOptimizations(body: unknown): { path: string[]; request: unknown }[] {
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
    const [first, second] = findOptimizations(body);
    const refuse = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    if (!first) refuse(['policy_optimization'], 'is required');
    if (second) refuse(second.path, `is given twice: also as ${first!.path.join('.')}`);
  }, runAlways);
export type CreateSession = z.infer<typeof createSessionSchema>;
