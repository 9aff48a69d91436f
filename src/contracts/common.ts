import { z } from 'zod';
import { componentName, componentNames, maxComponents } from '../core/prompts/components.js';

export const statusSchema = z.enum(['pending', 'running', 'paused', 'completed', 'failed', 'cancelled']).meta({
  id: 'Status',
  description: 'pending, running and paused are active; completed, failed, cancelled are final.',
});

const maxMessage = 100_000;
const role = z.enum(['system', 'user', 'assistant']);
const nameMeaning =
  'Of the component that the message is; where absent its role, system_2 for the second of that role.';

/** A message of a prompt as answers show it: a container may have given an empty or a longer one than requests may. */
export const messageSchema = z
  .object({ role, content: z.string(), name: z.string().exactOptional().describe(nameMeaning) })
  .meta({ id: 'Message' });

const promptMessageSchema = z
  .strictObject({
    role,
    content: z.string().min(1, 'must not be empty').max(maxMessage),
    name: z
      .string()
      .regex(componentName, 'must be 1 to 64 letters, digits, _ or -, and begin with a letter')
      .exactOptional()
      .describe(nameMeaning),
  })
  .meta({ id: 'PromptMessage' });

/** A prompt: each message is a component, told apart by its name. */
export const promptMessagesSchema = z
  .array(promptMessageSchema)
  .min(1, 'must hold at least one message')
  .max(maxComponents, `must hold at most ${maxComponents} messages`)
  .superRefine((messages, ctx) => {
    const names = componentNames(messages);
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) === index) continue;
      const message = `is "${name}", which messages.${names.indexOf(name)} is called already; give one of them another name`;
      ctx.addIssue({ code: 'custom', path: [index, 'name'], message });
    }
  });
export const promptSchema = z.strictObject({ messages: promptMessagesSchema });

/** The message of a field that has another form; one that is absent is told that it is required. */
export function unlessMissing(message: string) {
  return { error: ({ input }: { input?: unknown }) => (input === undefined ? undefined : message) };
}

/** Has a check across fields run although a field is at fault, so that everything is told at once. */
export const runAlways = { when: () => true };

/** What is at a path of a body that may have any form; undefined where there is nothing. */
export function valueAt(body: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    body,
  );
}

/** A whole number within limits; not z.int(), after whose faults no check across fields would run. */
export function wholeNumber(minimum: number, maximum: number) {
  return z
    .number(unlessMissing('must be a whole number'))
    .superRefine((value, ctx) => {
      if (!Number.isInteger(value)) ctx.addIssue('must be a whole number');
      else if (value < minimum || value > maximum) ctx.addIssue(`must be ${minimum} to ${maximum}`);
    })
    .meta({ type: 'integer', minimum, maximum });
}

/** Seeds in the order they are run: 1 to `max` whole numbers from 0 on. */
export function seedsSchema(max: number) {
  return z
    .array(wholeNumber(0, Number.MAX_SAFE_INTEGER), unlessMissing('must be a list of whole numbers'))
    .min(1, 'must hold at least one seed')
    .max(max, `must hold at most ${max} seeds`);
}

// Where calls go and with whose key is the service's to decide; compared without case, underscores and dashes.
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

/** Whether a field says where a model call goes or with which credentials, by whatever spelling. */
export function isConnectionField(name: string): boolean {
  return connectionFields.has(name.toLowerCase().replaceAll(/[_-]/g, ''));
}

/** A model and its provider; every other field goes to the model as it is. */
export const policySchema = z
  .looseObject({
    model: z.string().min(1).max(200).describe('The model, by the name its provider gives it.'),
    provider: z.string().min(1).max(100).describe('A provider that GET /api/v1/providers lists as usable.'),
  })
  .superRefine((policy: unknown, ctx) => {
    if (typeof policy !== 'object' || policy === null) return;
    for (const field of Object.keys(policy).filter(isConnectionField)) {
      ctx.addIssue({
        code: 'custom',
        path: [field],
        message: 'is not accepted: where calls go and with which key is configured at the service',
      });
    }
  }, runAlways)
  .meta({ id: 'Policy', description: 'A model and its provider; every other field goes to the model as it is.' });
export type PolicyRequest = z.infer<typeof policySchema>;

/** Fields of every job that calls a container. */
export const containerFields = {
  container_api_key: z
    .string()
    .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be visible ASCII characters')
    .max(4_096)
    .optional()
    .describe('Sent to the container as X-API-Key; stored encrypted, never shown again.'),
  env_config: z.record(z.string(), z.unknown()).optional().describe('Passed on to the container as it is.'),
  max_concurrent: wholeNumber(1, 256).default(5).describe('Most rollouts in flight at once.'),
  rollout_timeout: z.number().min(1).max(3_600).default(120).describe('Seconds for one rollout.'),
  max_failure_rate: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('The job fails when a larger part of its rollouts failed, from the 20th outcome on and at the end.'),
};
export type ContainerFields = z.infer<z.ZodObject<typeof containerFields>>;

export const envNameSchema = z.string().min(1).max(200).describe('Data set split or configuration, for the container.');
export const containerUrlSchema = z.string().min(1).max(2_048).describe("URL of the caller's container.");
export const correlationIdSchema = z.string().min(1).max(256);

/** What the existing client puts around a request; it means nothing here. */
export const envelope = {
  kind: z.unknown().optional(),
  technique: z.unknown().optional(),
  system: z.unknown().optional(),
  config_mode: z.unknown().optional(),
  config_name: z.unknown().optional(),
  config_path: z.unknown().optional(),
  overrides: z.unknown().optional(),
  metadata: z.unknown().optional(),
  session_id: z.unknown().optional(),
  agent_id: z.unknown().optional(),
  auto_start: z.unknown().optional(),
  container_worker_token: z.unknown().optional(),
};

/** What model calls used. A cost that is not known is null, never 0. */
export const usageSchema = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    total_cost_usd: z.number().nullable(),
    cost_source: z.enum(['reported', 'table', 'unknown']),
  })
  .meta({ id: 'Usage' });

export const errorDetailsSchema = z.object({ code: z.string(), message: z.string(), retryable: z.boolean() });

export const timestamp = z.string().meta({ format: 'date-time', description: 'ISO 8601, UTC.' });

/** What every job of any kind says of itself. */
export const jobFields = {
  job_id: z.string(),
  status: statusSchema,
  workflow_id: z.string().describe('The Temporal workflow that runs it.'),
  temporal_url: z.string().nullable().describe('The workflow in the Temporal UI.'),
  created_at: timestamp,
  started_at: timestamp.nullable(),
  completed_at: timestamp.nullable(),
  error: z.string().nullable().describe('Why it failed; null otherwise.'),
  error_details: errorDetailsSchema.nullable(),
  stopped_by: z.string().nullable().describe('What ended it.'),
};

/** How many rollouts a job has at once. */
export const concurrencySchema = z.object({
  limit: z
    .int()
    .describe('Rollouts that may be in flight at present; lowered where the container pushes back, and raised again.'),
  max_concurrent: z.int(),
  in_flight: z.int(),
  lowered_because: z.string().nullable().describe('Why limit is below max_concurrent; null where it is not.'),
});

export const estimateSchema = z.object({
  rollouts: z.int().describe('The most rollouts that this job will ask for.'),
  cost_usd: z
    .object({ low: z.number(), likely: z.number(), high: z.number() })
    .nullable()
    .describe('By assumptions on the length of prompts and answers; null where a price is not known.'),
});

/** Query of every list; `kind`, `system_id` and `system_name` are what an existing client may send and filter nothing. */
export const listQuerySchema = z.strictObject({
  state: statusSchema.optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  cursor: z.string().max(500).optional().describe('next_cursor of the page before.'),
  created_after: z.iso.datetime({ offset: true }).optional(),
  created_before: z.iso.datetime({ offset: true }).optional(),
  kind: z.string().optional(),
  system_id: z.string().optional(),
  system_name: z.string().optional(),
});
export type ListQuery = z.infer<typeof listQuerySchema>;

/** What a list of numbered rows is asked by. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  cursor: z.string().max(500).optional().describe('next_cursor of the page before.'),
};

/** A page of `item`, newest first. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullable(), has_more: z.boolean() });
}

/** RFC 9457, with OpenAI's `error` beside. */
export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What happened and what to do.'),
    instance: z.string(),
    code: z.string(),
    request_id: z.string(),
    errors: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
    error: z.object({ message: z.string(), type: z.string(), code: z.string(), param: z.string().nullable() }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details.' });
