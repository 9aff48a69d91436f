import { z } from 'zod';
import {
  containerFields,
  containerUrlSchema,
  correlationIdSchema,
  envelope,
  envNameSchema,
  policySchema,
} from '../common.js';
import { promptSchema } from '../prompt.js';
import { containerOnly, rowsSchema } from '../datasets/rows.js';
import { scorerSchema } from '../../scorers/index.js';
import { asObject, isObject } from '../../util/json.js';
import { algorithmFields, algorithmNames } from './algorithms.js';
import { all, either, forbidden, oneOf, oneRequired, required, where, type Rule } from '../rules.js';
import { largestWhole, runAlways, unlessMissing, valueAt, wholeNumber } from '../validation.js';

const count = (max: number) => wholeNumber(1, max);

/** Maximum seconds per rollout of a container. */
const maxRolloutSeconds = 3_600;

const budgetSchema = z.strictObject({
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

const urlAliases = ['container_url', 'task_app_url', 'localapi_url'] as const;

const shape = z.strictObject({
  algorithm: z.enum(algorithmNames, unlessMissing(`must be ${algorithmNames.map((name) => `"${name}"`).join(' or ')}`)),
  container_url: containerUrlSchema
    .optional()
    .describe("URL of the caller's container. Required without dataset, unless rollouts is caller."),
  task_app_url: containerUrlSchema.optional().describe('Alias of container_url.'),
  localapi_url: containerUrlSchema.optional().describe('Alias of container_url.'),
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
  budget: budgetSchema.optional(),
  env_name: envNameSchema.optional(),
  rng_seed: wholeNumber(-largestWhole, largestWhole)
    .default(0)
    .describe('The same seed and model answers give the same result.'),
  patience: count(500)
    .optional()
    .describe(
      'Ends the session after this many consecutive generations without an accepted proposal (mipro: without a new best).',
    ),
  target_reward: z.number().optional().describe('Ends the session once best_reward reaches it.'),
  ...containerFields,
  rollout_timeout: z
    .number()
    .min(1)
    .max(604_800)
    .default(120)
    .describe('Seconds per rollout, at most 3600. Live traffic: seconds until its reward arrives, at most a week.'),
});

export function containerField(request: Partial<Record<(typeof urlAliases)[number], unknown>>) {
  return urlAliases.find((name) => request[name] !== undefined);
}

const evaluationOf = (rule: Rule) => where(Object.fromEntries(algorithmNames.map((name) => [name, rule])));
const withSeeds = evaluationOf({ ...required('evaluation'), ...where({ evaluation: required('seeds') }) });
const withOrWithoutSeeds = evaluationOf(
  either(
    where({ evaluation: required('seeds') }),
    all(forbidden('train_seeds'), where({ evaluation: forbidden('heldout_seeds') })),
  ),
);
const notLive = where({ rollouts: { const: 'container' }, rollout_timeout: { maximum: maxRolloutSeconds } });

/** The rules below, for the OpenAPI document. */
const optimizationRule = all(
  either(
    ...algorithmNames.map((name) =>
      all(
        required(name),
        where({ algorithm: { const: name } }),
        forbidden(...algorithmNames.filter((other) => other !== name)),
      ),
    ),
  ),
  either(
    all(oneRequired(...urlAliases), notLive, withSeeds, forbidden('dataset', 'scorer')),
    all(
      required('rollouts'),
      where({ rollouts: { const: 'caller' }, answer_cache: { const: false } }),
      withSeeds,
      forbidden('dataset', 'scorer'),
      either(oneRequired(...urlAliases), forbidden('container_api_key', ...urlAliases)),
    ),
    all(
      required('dataset', 'scorer', 'initial_prompt'),
      notLive,
      withOrWithoutSeeds,
      forbidden(...urlAliases, ...containerOnly),
    ),
  ),
);

export const policyOptimizationSchema = shape
  .superRefine((request: unknown, ctx) => {
    if (!isObject(request)) return;
    const refuse = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    const at = (...path: string[]) => valueAt(request, ...path);

    const urls = new Set(urlAliases.map((name) => at(name)).filter((url) => url !== undefined));
    const live = at('rollouts') === 'caller';
    const hasRows = at('dataset') !== undefined;
    if (urls.size === 0 && !live && !hasRows) refuse(['container_url'], 'is required, or dataset with scorer');
    if (urls.size === 0 && at('container_api_key') !== undefined)
      refuse(['container_api_key'], 'requires container_url');
    if (urls.size > 1)
      refuse(
        ['container_url'],
        'differs from the URL in another of container_url, task_app_url and localapi_url; give only one',
      );

    const algorithm = algorithmNames.find((name) => name === at('algorithm')) ?? 'gepa';
    if (at(algorithm) === undefined) refuse([algorithm], `is required if algorithm is ${algorithm}`);
    else if (!hasRows) {
      const path = [algorithm, 'evaluation', ...(isObject(at(algorithm, 'evaluation')) ? ['seeds'] : [])];
      if (at(...path) === undefined) refuse(path, 'is required');
    }
    for (const other of algorithmNames)
      if (other !== algorithm && at(other) !== undefined)
        refuse([other], `is not used if algorithm is ${algorithm}: remove it`);
    if (hasRows) {
      for (const name of ['scorer', 'initial_prompt'])
        if (at(name) === undefined) refuse([name], 'is required with dataset');
      for (const name of [...urlAliases, ...containerOnly])
        if (at(name) !== undefined) refuse([name], 'is not used with dataset: remove it');
      if (live) refuse(['rollouts'], 'must not be caller with dataset');
      const path = [algorithm, 'evaluation', 'seeds'];
      const parts = [
        [algorithm, 'train_seeds'],
        [algorithm, 'evaluation', 'heldout_seeds'],
      ];
      if (at(...path) === undefined && parts.some((part) => at(...part) !== undefined))
        refuse(path, 'is required with train_seeds or heldout_seeds; leave out all three for a split');
    } else if (at('scorer') !== undefined) {
      refuse(['scorer'], 'requires dataset; a container scores its own rollouts');
    }
    if (live && ![undefined, false].includes(at('answer_cache') as undefined))
      refuse(['answer_cache'], 'is not used if rollouts is caller: remove it');
    if (!live && typeof at('rollout_timeout') === 'number' && (at('rollout_timeout') as number) > maxRolloutSeconds)
      refuse(['rollout_timeout'], `must be at most ${maxRolloutSeconds}; only live traffic allows more`);
  }, runAlways)
  .meta({ id: 'PolicyOptimization', ...optimizationRule });
export type PolicyOptimization = z.infer<typeof policyOptimizationSchema>;

const optimization = {
  policy_optimization: policyOptimizationSchema.optional(),
  prompt_learning: policyOptimizationSchema.optional().describe('Alias of policy_optimization.'),
};

const names = Object.keys(optimization);

export function findOptimizations(body: unknown): { path: string[]; request: unknown }[] {
  return [[], ['config_body'], ['config']]
    .flatMap((holder) => names.map((name) => [...holder, name]))
    .map((path) => ({ path, request: valueAt(body, ...path) }))
    .filter(({ request }) => request !== undefined && request !== null);
}

export const createSessionSchema = z
  .strictObject(
    {
      ...optimization,
      config_body: z
        .strictObject(optimization)
        .nullish()
        .describe("policy_optimization in an existing client's wrapper."),
      config: z.strictObject(optimization).nullish().describe("policy_optimization in an existing client's wrapper."),
      ...envelope,
      correlation_id: correlationIdSchema.nullish().describe('Your id for finding the session; returned unchanged.'),
    },
    'must be a JSON object with policy_optimization',
  )
  .superRefine((body: unknown, ctx) => {
    if (!isObject(body)) return;
    const [first, second] = findOptimizations(body);
    const refuse = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    if (!first) refuse(['policy_optimization'], 'is required');
    if (second) refuse(second.path, `duplicates ${first!.path.join('.')}; give only one`);
  }, runAlways)
  .meta(
    oneOf(
      ...names.map((name) => required(name)),
      ...['config_body', 'config'].flatMap((holder) =>
        names.map((name) => all(required(holder), where({ [holder]: { type: 'object', ...required(name) } }))),
      ),
    ),
  );
export type CreateSession = z.infer<typeof createSessionSchema>;

/** The schema for a body; fields without their wrapper get one error that says where they go. */
export function sessionSchemaFor(body: unknown): z.ZodType {
  if (findOptimizations(body).length > 0) return createSessionSchema;
  for (const holder of [[], ['config_body'], ['config']]) {
    const fields = Object.keys(asObject(valueAt(body, ...holder)) ?? {}).filter((name) =>
      Object.hasOwn(shape.shape, name),
    );
    if (fields.length === 0) continue;
    const message = `is required; put ${fields.sort().join(', ')} inside it`;
    const path = [...holder, 'policy_optimization'];
    return z.unknown().superRefine((_, ctx) => ctx.addIssue({ code: 'custom', path, message }));
  }
  return createSessionSchema;
}
