import { z } from 'zod';
import {
  containerFields,
  containerUrlSchema,
  correlationIdSchema,
  envNameSchema,
  policySchema,
} from '../../../contracts/common.js';
import {
  anyOf,
  firstOf,
  limits,
  needs,
  refuses,
  together,
  within,
  withRule,
  type FieldRule,
} from '../../../contracts/field-rules.js';
import { envelopeLabelFields } from '../../../contracts/labels.js';
import { promptSchema } from '../../../contracts/prompt.js';
import { containerOnly, rowsSchema } from '../../../datasets/contract/rows.js';
import { scorerSchema } from '../../../scorers/index.js';
import { largestWhole, unlessMissing, wholeNumber } from '../../../contracts/validation.js';
import { webhookField } from '../../../contracts/webhook.js';
import { algorithmFields, algorithmNames, type AlgorithmName } from './algorithms.js';

const count = (max: number) => wholeNumber(1, max);

/** Maximum seconds per rollout of a container. */
const maxRolloutSeconds = 3_600;

export const sessionBudgetSchema = z.strictObject({
  max_rollouts: count(10_000_000).optional().describe('Maximum rollouts. Reserved before work starts, never exceeded.'),
  max_cost_usd: z
    .number()
    .gt(0)
    .max(1_000_000)
    .optional()
    .describe('Maximum dollars for model calls of rollouts and proposer. Reserved per call, never exceeded.'),
  max_minutes: z
    .number()
    .gt(0)
    .max(43_200)
    .optional()
    .describe('Maximum minutes of running, without pauses. Then the session completes with its best candidate.'),
});

/** Without the rules between fields. */
export const optimizationFieldsSchema = z.strictObject({
  algorithm: z.enum(algorithmNames, unlessMissing(`must be ${algorithmNames.map((name) => `"${name}"`).join(' or ')}`)),
  container_url: containerUrlSchema
    .optional()
    .describe("URL of the caller's container. Required without dataset, unless rollouts is caller."),
  dataset: rowsSchema
    .optional()
    .describe('Rows in place of a container: initial_prompt is filled with each row, and scorer scores the answer.'),
  scorer: scorerSchema.optional().describe('How answers to the rows of dataset are scored.'),
  policy: policySchema,
  proposer: policySchema.optional().describe('The model that writes new prompts. Default: the policy.'),
  ...algorithmFields,
  initial_prompt: promptSchema
    .optional()
    .describe(
      "The baseline; each message is a component to optimize. Default: the container's own prompt. With dataset, {{column}} stands for a value of the row; without any, the row's input follows as a user message.",
    ),
  rollouts: z
    .enum(['container', 'caller'])
    .default('container')
    .describe(
      'caller: your own traffic through the proxy, with rewards that you report. Calls with x-ratchet-seed are compared seed by seed; without it only the number of seeds matters.',
    ),
  budget: sessionBudgetSchema.optional(),
  heldout_rows: wholeNumber(0, 1_000)
    .optional()
    .describe(
      'Rows of dataset that the search never uses, for the comparison of winner and baseline. Default: as many as show a difference of 0.1, within a third of the rows and of the rollouts.',
    ),
  max_prompt_tokens: count(1_000_000)
    .optional()
    .describe(
      'Maximum length of a prompt with its demonstrations, in tokens of four bytes. Longer proposals are refused, sets of rows are cut.',
    ),
  env_name: envNameSchema.optional(),
  rng_seed: wholeNumber(-largestWhole, largestWhole)
    .default(0)
    .describe('The same seed and model answers give the same result.'),
  patience: count(500)
    .optional()
    .describe('Ends the session after this many consecutive generations without an accepted proposal.'),
  target_reward: z.number().optional().describe('Ends the session once best_reward reaches it.'),
  ...containerFields,
  rollout_timeout: z
    .number()
    .min(1)
    .max(604_800)
    .default(120)
    .describe('Seconds per rollout, at most 3600. Live traffic: seconds until its reward arrives, at most a week.'),
});

// Rules between fields: by algorithm, by who runs the rollouts, and by what they run on.
const byAlgorithm = (ruleOf: (name: AlgorithmName) => FieldRule) =>
  firstOf(...algorithmNames.map((name) => ({ when: limits('algorithm', z.literal(name)), then: ruleOf(name) })));
const ofAlgorithm = byAlgorithm((name) => {
  const others = algorithmNames.filter((other) => other !== name);
  return together(
    needs([name], `is required if algorithm is ${name}`),
    refuses(others, `is not used if algorithm is ${name}: remove it`),
  );
});
const inSection = (rule: FieldRule) => byAlgorithm((name) => within(name, rule));

const evaluationSeeds = together(needs(['evaluation']), within('evaluation', needs(['seeds'])));
const splitMessage = 'is required with train_seeds or heldout_seeds; leave out all three for a split';
const allSeedsOrNone = anyOf(
  { path: ['evaluation', 'seeds'], message: splitMessage },
  evaluationSeeds,
  together(refuses(['train_seeds']), within('evaluation', refuses(['heldout_seeds']))),
);

const byContainer = limits('rollouts', z.literal('container'));
const byCaller = together(needs(['rollouts']), limits('rollouts', z.literal('caller')));
const ofDriver = firstOf(
  {
    when: byContainer,
    then: limits(
      'rollout_timeout',
      z.number().max(maxRolloutSeconds),
      `must be at most ${maxRolloutSeconds}; only live traffic allows more`,
    ),
  },
  {
    when: byCaller,
    then: limits('answer_cache', z.literal(false), 'is not used if rollouts is caller: remove it'),
  },
);

const withoutRows = together(
  anyOf(
    { path: ['container_url'], message: 'is required, or dataset with scorer' },
    needs(['container_url']),
    byCaller,
  ),
  anyOf(
    { path: ['container_api_key'], message: 'requires container_url' },
    needs(['container_url']),
    refuses(['container_api_key']),
  ),
  refuses(['scorer'], 'requires dataset; a container scores its own rollouts'),
  refuses(['heldout_rows'], 'requires dataset; with a container use evaluation.heldout_seeds'),
  inSection(evaluationSeeds),
);
const onRows = together(
  needs(['scorer', 'initial_prompt'], 'is required with dataset'),
  refuses(['container_url', ...containerOnly], 'is not used with dataset: remove it'),
  limits('rollouts', z.literal('container'), 'must not be caller with dataset'),
  inSection(allSeedsOrNone),
  anyOf(
    { path: ['heldout_rows'], message: 'is not used if evaluation.seeds names the seeds: remove one of them' },
    refuses(['heldout_rows']),
    inSection(within('evaluation', refuses(['seeds']))),
  ),
);
const ofSource = firstOf({ when: refuses(['dataset']), then: withoutRows }, { when: needs(['dataset']), then: onRows });

type Fields = z.output<typeof optimizationFieldsSchema>;
export type OptimizationOnRows = Fields & {
  [Name in 'dataset' | 'scorer' | 'initial_prompt']: NonNullable<Fields[Name]>;
};
/** A request that keeps the rules. */
export type PolicyOptimization = OptimizationOnRows | (Fields & { dataset?: undefined });

export const policyOptimizationSchema = withRule(
  optimizationFieldsSchema,
  together(ofAlgorithm, ofDriver, ofSource),
  'PolicyOptimization',
) as typeof optimizationFieldsSchema & z.ZodType<PolicyOptimization>;

export const createSessionSchema = z.strictObject(
  {
    policy_optimization: policyOptimizationSchema,
    ...envelopeLabelFields,
    ...webhookField,
    correlation_id: correlationIdSchema.nullish().describe('Your id for finding the session; returned unchanged.'),
  },
  'must be a JSON object with policy_optimization',
);
export type CreateSession = z.infer<typeof createSessionSchema>;
