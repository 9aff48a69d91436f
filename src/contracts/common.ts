import { z } from 'zod';
import { closestName, unknownField } from './close-names.js';
import { archivedQuery, labelViewFields, metadataQuery, nameQuery, tagQuery } from './labels.js';
import { nameMeaning, role } from './prompt.js';
import { urlForm } from './rules.js';
import { runAlways, wholeNumber, wholeParameter } from './validation.js';
import { webhookViewSchema } from './webhook.js';

export const statusSchema = z.enum(['pending', 'running', 'paused', 'completed', 'failed', 'cancelled']).meta({
  id: 'Status',
  description: 'pending, running and paused are active; completed, failed, cancelled are final.',
});

/** A message in responses; a container may return an empty or a longer one than requests allow. */
export const messageSchema = z
  .object({ role, content: z.string(), name: z.string().exactOptional().describe(nameMeaning) })
  .meta({ id: 'Message' });

// The service configures the target and key of model calls.
const connectionFields = new Set([
  'apikey',
  'apibase',
  'apihost',
  'apitoken',
  'apitype',
  'apiurl',
  'apiversion',
  'authorization',
  'azureendpoint',
  'baseurl',
  'defaultheaders',
  'defaultquery',
  'endpoint',
  'extraheaders',
  'extraquery',
  'headers',
  'httpclient',
  'inferenceapikey',
  'inferenceurl',
  'organization',
  'organizationid',
  'proxies',
  'proxy',
]);

/** In any spelling: with or without case, underscores and dashes. */
export function isConnectionField(name: string): boolean {
  return connectionFields.has(name.toLowerCase().replaceAll(/[_-]/g, ''));
}

const model = z.string().min(1).max(200).describe('The model, by the name its provider gives it.');
const provider = z.string().min(1).max(100).describe('A provider that GET /api/v1/providers lists as usable.');

const policyOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.looseObject(shape).superRefine((policy: unknown, ctx) => {
    if (typeof policy !== 'object' || policy === null) return;
    for (const field of Object.keys(policy).filter(isConnectionField)) {
      ctx.addIssue({
        code: 'custom',
        path: [field],
        message: 'is not accepted; the service configures the target and key of model calls',
      });
    }
    const missing = ['model', 'provider'].filter((field) => !Object.hasOwn(policy, field));
    for (const field of Object.keys(policy)) {
      if (closestName(field, missing) !== null)
        ctx.addIssue({ code: 'custom', path: [field], message: unknownField(field, missing) });
    }
  }, runAlways);

/** A model and its provider; all other fields are passed to the model. */
export const policySchema = policyOf({ model, provider }).meta({
  id: 'Policy',
  description: 'A model and its provider. All other fields are passed to the model unchanged.',
});
/** A policy whose provider has a default, as described. */
export const policyWithDefault = (described: string) =>
  policyOf({ model, provider: provider.optional().describe(described) });
export type PolicyRequest = z.infer<typeof policySchema>;

/** Fields of every job that calls a container. */
export const containerFields = {
  container_api_key: z
    .string()
    .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be visible ASCII characters')
    .max(4_096)
    .optional()
    .describe('Sent to the container as X-API-Key. Stored encrypted and never returned.'),
  env_config: z.record(z.string(), z.unknown()).optional().describe('Passed to the container unchanged.'),
  max_concurrent: wholeNumber(1, 256).default(5).describe('Maximum concurrent rollouts.'),
  rollout_timeout: z.number().min(1).max(3_600).default(120).describe('Seconds per rollout.'),
  max_failure_rate: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe(
      'The job fails if a larger share of its rollouts failed, checked from the 20th outcome and at the end. A candidate on a seed counts once, by its last try.',
    ),
  preflight: z
    .boolean()
    .default(true)
    .describe(
      'Before the first rollout, one small call to each of the policy and the proposer checks provider, key and model. false: no such call.',
    ),
  answer_cache: z
    .union([z.boolean(), z.literal('sampled')], 'must be true, false or "sampled"')
    .default(false)
    .describe(
      'true: calls of rollouts and judges with temperature 0 get the recorded answer of an identical call of the organization, at no cost. "sampled": calls with any temperature do; a job then uses another job\'s answer at most once.',
    ),
};
export type ContainerFields = z.infer<z.ZodObject<typeof containerFields>>;

export const envNameSchema = z
  .string()
  .min(1)
  .max(200)
  .describe('Data set split or configuration, passed to the container.');
export const containerUrlSchema = z
  .string()
  .min(1)
  .max(2_048)
  .meta({ ...urlForm, description: "URL of the caller's container." });
export const correlationIdSchema = z.string().min(1).max(256);
/** A correlation id in a path or a header: visible ASCII characters. */
export const correlationPattern = /^[!-~]{1,256}$/;

/** What the existing client adds to a request; ignored. */
export const ignoredFields = {
  kind: z.unknown().optional(),
  technique: z.unknown().optional(),
  system: z.unknown().optional(),
  config_mode: z.unknown().optional(),
  config_name: z.unknown().optional(),
  config_path: z.unknown().optional(),
  overrides: z.unknown().optional(),
  session_id: z.unknown().optional(),
  agent_id: z.unknown().optional(),
  auto_start: z.unknown().optional(),
  container_worker_token: z.unknown().optional(),
};

export const usageSchema = z
  .object({
    prompt_tokens: z.int().nullable().describe('null if a call did not tell its tokens.'),
    completion_tokens: z.int().nullable(),
    total_tokens: z.int().nullable(),
    total_cost_usd: z.number().nullable(),
    cost_source: z.enum(['reported', 'table', 'unknown']),
    calls: z.int().describe('All model calls of the job.'),
    cached_calls: z.int().describe('Calls that the answer cache answered, at no cost.'),
    cache_hit_rate: z
      .number()
      .nullable()
      .describe('cached_calls as a share of the answered calls of rollouts and judges; null without such calls.'),
  })
  .meta({ id: 'Usage' });

export const errorDetailsSchema = z
  .object({ code: z.string(), message: z.string(), retryable: z.boolean() })
  .meta({ id: 'ErrorDetails' });

export const timestamp = z.string().meta({ format: 'date-time', description: 'ISO 8601, UTC.' });

/** A create without warnings has no such field. */
export const warningsSchema = z
  .array(z.string())
  .describe('Probable mistakes in the request, which is valid, or in the answers to its rollouts.');

export const stuckSchema = z
  .object({
    cause: z.string().describe("Temporal's name of the failure, such as non_deterministic_error."),
    message: z.string(),
    since: timestamp,
  })
  .meta({ id: 'StuckJob' })
  .nullable()
  .describe(
    'Why the job makes no progress: its workflow task fails again and again, until an operator helps. null: it does not.',
  );

export const keyView = z
  .object({ key_id: z.string(), key_name: z.string() })
  .nullable()
  .describe('The key; null: the service.');

export const lastCommandSchema = z
  .object({
    command: z.enum(['pause', 'resume', 'cancel']),
    by: keyView.unwrap().nullable().describe('The key; null: none, as of an operator who acts in Temporal.'),
    at: timestamp,
  })
  .meta({ id: 'LastCommand' })
  .nullable()
  .describe('The last pause, resume or cancel that took effect; null: none.');

export const originSchema = z
  .object({ job_id: z.string(), candidate_id: z.string().nullable().describe('Its first prompt or graph.') })
  .meta({ id: 'JobOrigin' })
  .nullable()
  .describe('The job that it was cloned from, and the candidate that it began with. null: it is no clone.');

export const jobFields = {
  job_id: z.string(),
  ...labelViewFields,
  created_by: keyView,
  branched_from: originSchema,
  status: statusSchema,
  last_command: lastCommandSchema,
  workflow_id: z.string().describe('The Temporal workflow of the job.'),
  temporal_url: z.string().nullable().describe('The workflow in the Temporal UI.'),
  created_at: timestamp,
  started_at: timestamp.nullable(),
  completed_at: timestamp.nullable(),
  error: z.string().nullable().describe('Why the job failed; null otherwise.'),
  error_details: errorDetailsSchema.nullable(),
  stopped_by: z.string().nullable().describe('What ended the job.'),
  stuck: stuckSchema,
  warnings: warningsSchema,
  webhook: webhookViewSchema.nullable(),
};

/** Fields of every job in a list, besides those of its state. */
export const listFields = {
  total_cost_usd: z
    .number()
    .nullable()
    .describe('usage.total_cost_usd of the state: of all model calls; null if a price is unknown, or without calls.'),
};

export const concurrencySchema = z.object({
  limit: z
    .int()
    .describe('Current maximum of concurrent rollouts; lowered when the container pushes back, then raised again.'),
  max_concurrent: z.int(),
  in_flight: z.int(),
  lowered_because: z.string().nullable().describe('Why limit is below max_concurrent; null otherwise.'),
});

export const estimateSchema = z.object({
  rollouts: z.int().describe('Maximum rollouts of the job.'),
  cost_usd: z
    .object({ low: z.number(), likely: z.number(), high: z.number() })
    .meta({ id: 'CostRange' })
    .nullable()
    .describe('Based on assumed lengths of prompts and answers; null if a price is unknown.'),
});

/** A query without parameters: a misspelt or misplaced dry_run must not start a paid job. */
export const noQuerySchema = z.strictObject({});

/** Query of a create. */
export const createQuerySchema = z.strictObject({
  dry_run: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('true: validates the request and answers 200 with its estimate; stores and starts nothing.'),
});

export const pageQuery = {
  limit: wholeParameter(1, 1_000).default(100),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,500}$/, 'must be a next_cursor of this list')
    .optional()
    .describe('next_cursor of the previous page.'),
};

export const createdByQuery = z.string().min(1).max(200).optional().describe('The id of the key that created them.');

/** Query of every list; ignores `kind`, `system_id` and `system_name` of the existing client. */
export const listQuerySchema = z.strictObject({
  state: statusSchema.optional(),
  name: nameQuery,
  tag: tagQuery,
  metadata: metadataQuery,
  archived: archivedQuery,
  created_by: createdByQuery,
  ...pageQuery,
  created_after: z.iso.datetime({ offset: true }).optional(),
  created_before: z.iso.datetime({ offset: true }).optional(),
  kind: z.string().optional(),
  system_id: z.string().optional(),
  system_name: z.string().optional(),
});
export type ListQuery = z.infer<typeof listQuerySchema>;

/** A page of `item`, newest first. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullable(), has_more: z.boolean() });
}
