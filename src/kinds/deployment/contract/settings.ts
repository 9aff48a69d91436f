/** How a deployment serves, beside what it serves: PATCH changes it at any time. */
import { z } from 'zod';
import { compilePattern } from '../../../util/linear-regex.js';
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

/** The settings of a create and of PATCH. */
export const settingFields = {
  log: logSchema
    .nullish()
    .describe('Keeps texts of requests and answers. null: keeps none, and deletes those that are kept.'),
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
};

/** The settings as they are stored; absent: none. */
export interface DeploymentSettings {
  log?: LogSettings;
}
