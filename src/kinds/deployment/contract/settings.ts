/** How a deployment serves, beside what it serves: PATCH changes it at any time. */
import { z } from 'zod';
import { compilePattern } from '../../../util/linear-regex.js';
import { limitsSchema, limitsView, type LimitSettings } from './limits.js';
import { servedPolicySchema } from './served-policy.js';
import { frozenPolicySchema } from './snapshot.js';
import { unlessMissing } from '../../../contracts/validation.js';

/** What is recognized in texts without a pattern. */
export const redactedKinds = ['email', 'phone', 'credit_card', 'iban', 'ip_address', 'us_ssn', 'secret'] as const;
export type RedactedKind = (typeof redactedKinds)[number];

const patternSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,39}$/, 'must be a name in snake_case of at most 40 characters')
    .describe('Stands in the place of what matches, in brackets.'),
  pattern: z
    .string()
    .superRefine((pattern, ctx) => {
      const compiled = compilePattern(pattern);
      if ('problem' in compiled) ctx.addIssue({ code: 'custom', message: compiled.problem });
      else if (compiled.test('')) ctx.addIssue({ code: 'custom', message: 'must not match an empty text' });
    })
    .describe('RE2 syntax.'),
});

const redactSchema = z
  .array(z.union([z.enum(redactedKinds), patternSchema]))
  .max(20)
  .describe(`What is replaced before a text is kept: ${redactedKinds.join(', ')}, or patterns of your own.`);

const logSchema = z
  .strictObject(
    {
      sample_rate: z
        .number()
        .min(0)
        .max(1)
        .default(1)
        .describe('The share of requests that is kept; an episode is kept as a whole. 0: no further ones.'),
      keep_days: z.int().min(1).max(365).default(30).describe('Days until a request is deleted.'),
      redact: redactSchema.default([]),
    },
    unlessMissing('must be an object with sample_rate, keep_days and redact, or null'),
  )
  .meta({ id: 'DeploymentLogRequest' });
export type LogSettings = z.output<typeof logSchema>;

const seconds = z.number().min(0.05).max(600).nullable().default(null);

const fallbacksSchema = z
  .strictObject(
    {
      models: z
        .array(servedPolicySchema)
        .max(5)
        .default([])
        .describe(
          "Asked in this order while the deployment's own model fails. A parameter that a policy does not have is that of the deployment.",
        ),
      retries: z.int().min(0).max(3).default(0).describe('Further tries of a model before the next one.'),
      retry_budget: z
        .number()
        .min(0)
        .max(1)
        .default(0.1)
        .describe('The largest share of retries in the requests of a process, beside 10 at once.'),
      first_byte_timeout: seconds.describe('Seconds of a try until the first event of a stream. null: no limit.'),
      timeout: seconds.describe('Seconds of a try until the end of an answer that is not streamed. null: no limit.'),
    },
    unlessMissing('must be an object with models, or null'),
  )
  .meta({ id: 'FallbacksRequest' });
export type FallbackSettings = z.output<typeof fallbacksSchema>;

/** The settings of a create and of PATCH. */
export const settingFields = {
  log: logSchema
    .nullish()
    .describe('Keeps texts of requests and answers. null: keeps none, and deletes those that are kept.'),
  fallbacks: fallbacksSchema
    .nullish()
    .describe('Further models, and tries, after 408, 429, 5xx, a refused key, a model that is gone, or a time-out.'),
  limits: limitsSchema.nullish().describe('What callers may use of the name. null: no limits.'),
};

/** The settings in views. */
export const settingViewFields = {
  log: z
    .object({
      sample_rate: z.number(),
      keep_days: z.int(),
      redact: z.array(z.union([z.enum(redactedKinds), z.object({ name: z.string(), pattern: z.string() })])),
    })
    .meta({ id: 'DeploymentLog' })
    .nullable()
    .describe('null: no texts are kept.'),
  fallbacks: z
    .object({
      models: z.array(frozenPolicySchema),
      retries: z.int(),
      retry_budget: z.number(),
      first_byte_timeout: z.number().nullable(),
      timeout: z.number().nullable(),
    })
    .meta({ id: 'Fallbacks' })
    .nullable()
    .describe('null: its own model alone is asked, once.'),
  limits: limitsView.nullable().describe('null: without limits.'),
};

/** The settings as they are stored; absent: none. */
export interface DeploymentSettings {
  log?: LogSettings;
  fallbacks?: FallbackSettings;
  limits?: LimitSettings;
}
