/** How a name is served, whichever version answers: PATCH changes it at any time. */
import { z } from 'zod';
import { compilePattern } from '../../../util/linear-regex.js';
import { judgeDefaults, judgeSchema, judgeView, type JudgeSettings } from './judge.js';
import { limitDefaults, limitsSchema, limitsView, type LimitSettings } from './limits.js';
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

const logFields = {
  sample_rate: z
    .number()
    .min(0)
    .max(1)
    .describe('The share of requests that is kept; an episode is kept as a whole. 0: no further ones. Default: 1.'),
  keep_days: z.int().min(1).max(365).describe('Days until a request is deleted. Default: 30.'),
  redact: redactSchema,
};
const logDefaults = { sample_rate: 1, keep_days: 30, redact: [] };
const notLog = unlessMissing('must be an object with sample_rate, keep_days and redact, or null');
const logSchema = z.strictObject(logFields, notLog);
export type LogSettings = z.output<typeof logSchema>;

const seconds = z.number().min(0.05).max(600).nullable();

const fallbackFields = {
  models: z
    .array(servedPolicySchema)
    .max(5)
    .describe(
      "Asked in this order while the deployment's own model fails. A parameter that a policy does not have is that of the deployment. Default: none.",
    ),
  retries: z.int().min(0).max(3).describe('Further tries of a model before the next one. Default: 0.'),
  retry_budget: z
    .number()
    .min(0)
    .max(1)
    .describe('The largest share of retries in the requests of a process, beside 10 at once. Default: 0.1.'),
  first_byte_timeout: seconds.describe('Seconds of a try until the first event of a stream. null: no limit.'),
  timeout: seconds.describe('Seconds of a try until the end of an answer that is not streamed. null: no limit.'),
};
const fallbackDefaults = { models: [], retries: 0, retry_budget: 0.1, first_byte_timeout: null, timeout: null };
const notFallbacks = unlessMissing('must be an object with models, or null');
const fallbacksSchema = z.strictObject(fallbackFields, notFallbacks);
export type FallbackSettings = z.output<typeof fallbacksSchema>;

/** What a setting has that a request does not give. */
export const defaultSettings = {
  log: logDefaults,
  fallbacks: fallbackDefaults,
  limits: limitDefaults,
  judge: judgeDefaults,
};

/** Changes of settings, in a create and in PATCH: fields that are not given stay as they are. */
export const changeFields = {
  log: logSchema
    .partial()
    .meta({ id: 'DeploymentLogRequest' })
    .nullish()
    .describe('Keeps texts of requests and answers. null: keeps none, and deletes those that are kept.'),
  fallbacks: fallbacksSchema
    .partial()
    .meta({ id: 'FallbacksRequest' })
    .nullish()
    .describe('Further models, and tries, after 408, 429, 5xx, a refused key, a model that is gone, or a time-out.'),
  limits: limitsSchema
    .partial()
    .meta({ id: 'DeploymentLimitsRequest' })
    .nullish()
    .describe('What callers may use of the name. null: no limits.'),
  judge: judgeSchema
    .partial()
    .meta({ id: 'DeploymentJudgeRequest' })
    .nullish()
    .describe('Scores a sample of the answers; `scorer` is required at first. null: none is judged.'),
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
  judge: judgeView.nullable().describe('null: no answer is judged.'),
};

/** The settings as they are stored; absent: none. */
export interface DeploymentSettings {
  log?: LogSettings;
  fallbacks?: FallbackSettings;
  limits?: LimitSettings;
  judge?: JudgeSettings;
}
